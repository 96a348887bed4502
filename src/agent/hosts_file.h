// The marked block of /etc/hosts that names the cluster's machines. What stands outside of it is the user's. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/protocol.h"

namespace espalier::agent {

inline constexpr std::string_view kHostsBegin = "# espalier begin";
inline constexpr std::string_view kHostsEnd = "# espalier end";

// `text` with its block replaced, or with one added at its end. Without entries there is no block.
std::string with_hosts(std::string_view text, const std::vector<HostEntry>& hosts);
// `text` with its block changed, in the order of the names: as the whole block would have come.
std::string with_delta(std::string_view text, const HostsDelta& delta);

}  // namespace espalier::agent
