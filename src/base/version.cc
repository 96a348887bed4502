#include "base/version.h"

namespace espalier {

const char* const kVersion = ESPALIER_VERSION;

}  // namespace espalier
