// A cloud in memory for tests of the engine and the API: does what the test scripts, remembers all that was asked, and
// keeps the promises of provider.h, idempotency above all. Safe from several threads; it never sleeps.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "provider/provider.h"

namespace espalier::sim {

// What becomes of one launch of a key; launches without a script succeed at once.
struct Script {
  std::optional<LaunchFailure> failure{};
  bool machine_comes = false;  // with a failure: its answer is wrong, as of a cloud that times out and works on
  bool hangs = false;          // first waits for release()
};

class FakeProvider final : public Provider {
 public:
  enum class Call { kLaunch, kTerminate, kList, kRemoveVolumes };
  // Where a machine hangs, from the request and how many were launched before it.
  using Placement = std::function<Position(const LaunchRequest& request, std::size_t number)>;

  // The clock outlives it. Machines have no position unless a placement is given.
  explicit FakeProvider(const Clock& clock, Placement placement = {});

  // --- the test's side ---
  // At most `machines` of this type at once; more is a shortage. nullopt: no bound, as at the start.
  void set_capacity(const std::string& instance_type, std::optional<int> machines);
  // offers() says no, with this reason.
  void refuse(const std::string& instance_type, const std::string& reason);
  // For the next launch with this key that makes no answer from memory; several follow one another. "": for the next
  // launch of any key without a script of its own.
  void script(const std::string& key, Script script);
  // Lets all launches go on that hang now. To be called before the test ends.
  void release();
  // Waits until `count` launches hang.
  void await_hanging(int count);
  // The next such call fails so and does nothing; several follow one another. Not for launches: they have scripts.
  void fail_next(Call call, Error error);
  // The machine ends by itself: it stays in list(), not running, and the callback is called on this thread.
  void end(const MachineId& id);

  // Calls so far, answered or not.
  [[nodiscard]] int calls(Call call) const;
  // Requests in the order of their arrival.
  [[nodiscard]] std::vector<LaunchRequest> launches() const;
  [[nodiscard]] std::vector<MachineId> terminated() const;
  [[nodiscard]] std::vector<ClusterId> removed_volumes() const;
  // What a caller must never do: a slot with two running machines, a key used with other parameters. Texts for the
  // test to show; empty when all is well.
  [[nodiscard]] std::vector<std::string> violations() const;

  // --- Provider ---
  [[nodiscard]] std::string name() const override { return "fake"; }
  Result<void> offers(const std::string& instance_type) const override;
  LaunchOutcome launch(const LaunchRequest& request) override;
  Result<void> terminate(const MachineId& id) override;
  Result<std::vector<ProvidedMachine>> list(const ClusterId& cluster) override;
  Result<void> remove_volumes(const ClusterId& cluster) override;
  void on_exit(std::function<void(const ProvidedMachine&)> callback) override;

 private:
  struct Made {
    ProvidedMachine machine;
    LaunchRequest request;
    bool terminated = false;  // kept all the same: its key is used up
  };

  std::optional<Script> take_script(const std::string& key);
  void hang(std::unique_lock<std::mutex>& lock);
  LaunchOutcome answer(const LaunchRequest& request, const Script& script);
  std::optional<Error> count(Call call);
  const Made* made_by(const std::string& key) const;
  int running(const std::string& instance_type) const;
  ProvidedMachine make(const LaunchRequest& request);
  void watch_slot(const LaunchRequest& request);
  void watch_key(const Made& made, const LaunchRequest& request);

  const Clock& clock_;
  const Placement placement_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<MachineId, Made> machines_;
  std::map<std::string, int> capacity_;
  std::map<std::string, std::string> refused_;
  std::map<std::string, std::deque<Script>> scripts_;
  std::map<Call, std::deque<Error>> errors_;
  std::map<Call, int> calls_;
  int hanging_ = 0;
  int releases_ = 0;
  std::vector<LaunchRequest> launches_;
  std::vector<MachineId> terminated_;
  std::vector<ClusterId> removed_volumes_;
  std::vector<std::string> violations_;
  std::function<void(const ProvidedMachine&)> on_exit_;
};

}  // namespace espalier::sim
