// What happens in a life, written down as it happens; figures in the end. All times are counted from `begin`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cloud.h"
#include "job_queue.h"
#include "simulate/report.h"
#include "simulate/scenario.h"
#include "store/store.h"

namespace espalier::simulate {

class Record {
 public:
  Record(const Scenario& scenario, Time begin);

  // What the control plane has put on disk.
  void committed(const store::Commit& commit, Time now);
  // The user wishes for another size of a group.
  void wished(const std::string& group, int count, Time now);
  void in_service(Time now);

  // Fills in everything but the mode and the creations.
  void finish(LifeReport& report, const sim::Cloud& cloud, const sim::JobQueue& queue, Time now) const;

 private:
  struct Known {
    ClusterId cluster;
    int group = 0;
    bool ready = false;
  };
  // From then on.
  struct Change {
    Time at{};
    int group = 0;
    int ready = 0;
    int wished = 0;
  };
  void put(const ClusterId& cluster, const Slot& slot, Time now);
  void drop(const SlotId& id, Time now);
  void set_ready(int group, int change, Time now);
  void note(int group, Time now);
  void look_for_sizes(Time now);
  [[nodiscard]] int index(const std::string& group) const;  // -1: of none that is recorded
  [[nodiscard]] Millis since(Time time) const { return time - begin_; }
  void add_hours(LifeReport& report, Time now) const;
  void add_machines(LifeReport& report, const sim::Cloud& cloud, Time now) const;
  void add_jobs(LifeReport& report, const sim::JobQueue& queue, Time now) const;
  void add_timeline(LifeReport& report, const std::vector<sim::JobQueue::Run>& runs, Time end) const;

  const Scenario& scenario_;
  const Time begin_;
  std::map<SlotId, Known> slots_;
  std::map<std::string, int> group_of_node_;
  std::vector<int> ready_, wished_;  // by group, now
  std::vector<Change> changes_;
  std::vector<std::vector<Size>> sizes_;
  std::vector<std::optional<Millis>> first_ready_;
  std::optional<Millis> in_service_, full_size_;
};

}  // namespace espalier::simulate
