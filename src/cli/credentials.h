// With which key the commands sign.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "access/sigv4.h"

namespace espalier::cli {

// A variable's value, "" when there is none.
using Environment = std::function<std::string(const char*)>;

// The host's own credential, which `serve` makes: whoever may read it is an administrator of this control plane.
std::filesystem::path local_credential_file(const std::string& state);
// Of a self-made certificate, which `serve` leaves there for the clients of this host.
std::filesystem::path local_certificate_file(const std::string& state);

// http://127.0.0.1:8650/x → 127.0.0.1:8650
std::string_view authority_of(std::string_view url);
// Whether the URL names this host.
bool is_local(std::string_view url);

// The first that is there: AWS_ACCESS_KEY_ID and what belongs to it, the profile (AWS_PROFILE) of the shared
// credentials file, and for a control plane of this host its own file. Keys that are not Espalier's are passed over:
// they are for another service.
std::optional<access::Credentials> find_credentials(const Environment& environment, std::string_view endpoint,
                                                    const std::string& state);
// A profile of a credentials file, as AWS tools write it.
std::optional<access::Credentials> read_profile(std::string_view text, std::string_view profile);

}  // namespace espalier::cli
