// Where log lines go instead of standard error: for the simulation, whose trace they join.
#pragma once

#include <functional>
#include <string_view>

#include "base/log.h"

namespace espalier::log {

// nullptr: standard error again. Not while other threads log.
void set_sink(std::function<void(Level, std::string_view)> sink);

}  // namespace espalier::log
