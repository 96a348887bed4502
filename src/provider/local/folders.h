// The local cloud on disk, below the state folder:
//
//   machines/<id>         a machine: machine/spec.h. <id>.new and <id>.gone are on their way in and out
//   volumes/<cluster>     what outlives machines: home (of all), slurm and state (of the controller)
//
// Whoever reads a machine's folder finds it whole: it appears with one rename and goes with one.
#pragma once

#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "machine/spec.h"
#include "provider/provider.h"

namespace espalier::local {

class Folders {
 public:
  explicit Folders(std::filesystem::path state) : state_(std::move(state)) {}

  // Makes what is missing, clears away what was on its way, and reads all machines. A folder that cannot be read is
  // left alone and logged: it holds no machine of ours, or a power cut emptied it.
  Result<std::vector<machine::MachineSpec>> open();

  [[nodiscard]] std::filesystem::path machine(const MachineId& id) const { return state_ / "machines" / id.str(); }
  // Makes the folder, or brings user-data.json up to date when it is there.
  Result<void> write_machine(const machine::MachineSpec& spec, const UserData& user_data);
  // Ends what runs in it and removes it. Gone before is a success.
  Result<void> destroy_machine(const machine::MachineSpec& spec, Millis timeout);

  // The volumes that a machine of this role mounts, made when absent; owners and skeleton come from the image.
  Result<std::vector<machine::Volume>> volumes(const ClusterId& cluster, NodeType role,
                                               const std::filesystem::path& image);
  Result<void> remove_volumes(const ClusterId& cluster);
  [[nodiscard]] bool has_volumes() const;

 private:
  [[nodiscard]] std::filesystem::path volume(const ClusterId& cluster) const {
    return state_ / "volumes" / cluster.str();
  }
  const std::filesystem::path state_;
};

}  // namespace espalier::local
