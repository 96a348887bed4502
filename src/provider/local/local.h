// A cloud on this host: every machine is a set of Linux namespaces (machine/build.h) on a read-only image, real munge
// and real Slurm inside, on one bridge. Where it would be empty without hardware, models stand in: sim/fabric_model.h
// says where machines hang, sim/capacity_model.h what can be had.
//
// It is a cloud of its own, not a view of a database: machines are folders, they outlive this process, and the next one
// takes them over. All calls from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>

#include "base/random.h"
#include "provider/capacity.h"
#include "provider/local/folders.h"
#include "provider/local/network.h"
#include "provider/local/settings.h"
#include "provider/local/watcher.h"
#include "provider/provider.h"
#include "provider/sim/capacity_model.h"
#include "provider/sim/fabric_model.h"

namespace espalier::local {

class LocalProvider final : public Provider, public Capacity {
 public:
  // Checks the host, makes the bridge, reads the models and takes over the machines that are there.
  // One process at a time may have a state folder open: the caller sees to that.
  static Result<std::unique_ptr<LocalProvider>> open(LocalSettings settings);
  // Waits for calls in hand. Machines go on; the bridge goes when there are no machines and no volumes.
  ~LocalProvider() override;

  // New launches are refused and those that only wait for their time end: for the way out of serve.
  void stop();

  // The address at which machines reach this host: the bridge's.
  [[nodiscard]] std::string host_address() const { return address_text(subnet_.gateway()); }
  // For machine::enter.
  [[nodiscard]] std::filesystem::path machine_folder(const MachineId& id) const { return folders_.machine(id); }

  [[nodiscard]] std::string name() const override { return "local"; }
  Result<void> offers(const std::string& instance_type) const override;
  [[nodiscard]] std::vector<std::string> images() const override;
  // The key of a machine that has ended by itself gives that machine, with running = false.
  LaunchOutcome launch(const LaunchRequest& request) override;
  Result<void> terminate(const MachineId& id) override;
  Result<void> reboot(const MachineId& id) override;
  // Without those that launch() is at work on; those that reboot are running. Half-built ones of an earlier process
  // come with running = false; their key builds them, terminate removes them.
  Result<std::vector<ProvidedMachine>> list(const ClusterId& cluster) override;
  // kConflict while the cluster has machines.
  Result<void> remove_volumes(const ClusterId& cluster) override;
  void on_exit(std::function<void(const ProvidedMachine&)> callback) override;

  std::map<std::string, PoolUse> show() override;
  Result<void> set(const std::string& instance_type, const Pool& pool) override;
  void on_change(std::function<void()> callback) override;

 private:
  struct Entry {
    machine::MachineSpec spec;
    bool launching = false;
    bool terminating = false;
    bool rebooting = false;
    [[nodiscard]] bool busy() const { return launching || terminating || rebooting; }
  };

  LocalProvider(LocalSettings settings, Subnet subnet, std::unique_ptr<sim::CapacityModel> capacity);
  Result<void> adopt();
  [[nodiscard]] std::string owner() const { return "espalier " + settings_.state.string(); }

  // The steps of a launch. With mutex_ held:
  Entry* find_key(const std::string& key);
  tl::expected<machine::MachineSpec, LaunchFailure> reserve(const LaunchRequest& request);
  [[nodiscard]] Result<std::filesystem::path> image_of(const std::string& id) const;
  Result<std::string> choose_address(const std::string& wish);
  void reload_fabric();
  // Without it:
  LaunchOutcome build_reserved(const machine::MachineSpec& spec, const LaunchRequest& request, bool is_new);
  std::optional<LaunchFailure> await_capacity(const std::string& instance_type);
  Result<void> run_builder(const char* command, const MachineId& id);
  void watch(const MachineId& id);
  void ended(const MachineId& id);
  [[nodiscard]] ProvidedMachine provided(const machine::MachineSpec& spec) const;

  const LocalSettings settings_;
  const Subnet subnet_;
  Folders folders_;
  const std::unique_ptr<sim::CapacityModel> capacity_;
  std::counting_semaphore<> builders_;

  std::mutex mutex_;
  std::condition_variable changed_;  // an entry's work is done, or stopping_
  bool stopping_ = false;
  bool bridge_ready_ = false;           // as far as we know
  std::map<MachineId, Entry> entries_;  // all machines that have a folder or are about to
  AddressRotation addresses_;
  Random random_ = Random::from_system();
  sim::FabricModel fabric_;
  std::filesystem::file_time_type fabric_read_{};
  std::function<void(const ProvidedMachine&)> exit_callback_;

  Watcher watcher_;  // last: its thread ends before what it uses
};

}  // namespace espalier::local
