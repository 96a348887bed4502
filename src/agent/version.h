// What the agent calls itself when it enrols.
#pragma once

namespace espalier::agent {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace espalier::agent
