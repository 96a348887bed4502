// Errors of the wire, as ours.
#pragma once

#include <string_view>

#include "base/result.h"
#include "http/server.h"

namespace espalier::cli {

// "ResourceNotFound", "com.amazonaws.sagemaker#ResourceNotFound" → kNotFound. Unknown codes go by the status.
ErrorCode code_of_wire(std::string_view type, int status);
// Of an answer whose status is not 200. Its message is the control plane's.
Error wire_error(std::string_view operation, const http::Response& response);

}  // namespace espalier::cli
