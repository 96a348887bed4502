// Events as lines for people.
#pragma once

#include <string>

#include "cli/terminal.h"
#include "cli/wire.h"

namespace espalier::cli {

// "2026-01-02 03:04:05Z  Info   worker  EC2 Instance i-… successfully provisioned …". "-" without a group.
std::string event_line(const wire::Event& event, const Terminal& terminal);
// Info 0, Warn 1, Error 2.
int level_rank(const std::string& level);

}  // namespace espalier::cli
