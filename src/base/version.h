// The release that all programs of this tree are of: the version of the CMake project.
#pragma once

namespace espalier {

extern const char* const kVersion;

}  // namespace espalier
