// The machine's health: how its agent looks at it, and when what it says is news to the control plane.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/protocol.h"
#include "agent/slurm_steps.h"
#include "base/clock.h"

namespace espalier::agent {

// What the agent finds below `root` ("/" but in tests). Devices are counted by their files; where the image has
// nvidia-smi, GPUs that the driver does not show count as missing. May take as long as that program: a thread of its
// own.
HealthView look_at_health(const std::string& machine_id, const std::filesystem::path& root, const RunCommand& run);

// Device files such as nvidia0 in `dev`: the prefix and a number.
int count_devices(const std::filesystem::path& dev, std::string_view prefix);

// What a machine last said of itself, as the control plane keeps it.
struct Health {
  HealthView view;
  Millis clock_ahead{};  // the machine's clock less ours, less than a second is none
  std::vector<DaemonView> daemons;
};
// Are there news in `now`? A disk that passes one of these marks is, each byte that it fills is not; neither is a
// clock that runs on as it did.
bool differs(const Health& before, const Health& now);
inline constexpr int kDiskMarks[] = {1, 2, 5, 10, 20};  // percent free

}  // namespace espalier::agent
