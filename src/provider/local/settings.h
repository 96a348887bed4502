// What the local provider is told at its start.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace espalier::local {

struct LocalSettings {
  std::filesystem::path state;  // machines/, volumes/ and capacity.json are made in it; not on an overlay file system
  std::filesystem::path image;  // root file system of new machines, made by images/node-image.sh
  std::vector<std::filesystem::path> more_images;  // other releases, for UpdateClusterSoftware
  std::filesystem::path agent;                     // the static espalier-agent
  std::string bridge = "espalier0";
  std::string subnet = "10.77.0.0/16";  // its first address is the bridge's, and this host's for the machines
  std::filesystem::path fabric;         // sim/fabric_model.h; empty: the built-in one. Read again when it changes
  std::filesystem::path capacity;       // sim/capacity_model.h; empty: no bounds
  std::string zone;                     // availability zone that machines are said to be in
  int launch_threads = 0;               // machines built at a time; 0: two for each processor
  Millis launch_deadline{30'000};       // of one build
};

// The release that a root file system is: "ami-" and 16 hex digits of its path.
std::string image_id(const std::filesystem::path& image);

// Root, image, agent: the error says what is missing and what to run.
Result<void> check_host(const LocalSettings& settings);

}  // namespace espalier::local
