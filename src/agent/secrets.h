// Takes secrets out of text that leaves the machine, such as the end of a user's log. Pure.
#pragma once

#include <string>
#include <string_view>

namespace espalier::agent {

// Values that are named as secrets ("password=…", "--token …", "AWS_SECRET_ACCESS_KEY: …") become "***", and so does
// all that stands in a private key. It cannot know what nothing names.
std::string without_secrets(std::string_view text);

}  // namespace espalier::agent
