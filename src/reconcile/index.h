// Where slots are found without looking at all of them, and when each is to be looked at again.
//
// Derived from the rows: built at a cluster's first step, then kept with every change, so that a step costs what
// changed and not what there is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cluster.h"

namespace espalier::reconcile {

inline constexpr std::size_t kSlotStates = 11;
using CountByState = std::array<int, kSlotStates>;

// A slot that waits for a pool: it may be launched as soon as one is granted.
bool waits_for_pool(const Slot& slot);

// What counts as up: what Slurm can use, what is being checked, and what is still finishing its jobs.
bool is_up(const Slot& slot);

// When its machine was launched, or else the slot made.
Time creation_time(const Slot& slot);

class Index {
 public:
  // Where a slot stands among all, by the time of its creation.
  struct Place {
    Time created{};
    std::string_view group;
    int number = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct OfGroup {
    std::map<int, SlotId> by_number;  // all slots
    std::map<int, SlotId> launched;   // those that have a machine
    std::set<int> waiting;            // numbers of those that wait for a pool
    CountByState all{};
    CountByState wanted{};
    int up = 0;                                      // slots
    std::map<std::string, int> up_types, up_images;  // of those, by instance type and by image
    [[nodiscard]] int wanted_in(SlotState state) const { return wanted[static_cast<std::size_t>(state)]; }
    [[nodiscard]] int all_in(SlotState state) const { return all[static_cast<std::size_t>(state)]; }
    // Its machine has been made ready: it is used, or is being checked.
    [[nodiscard]] int wanted_up() const { return wanted_in(SlotState::Ready) + wanted_in(SlotState::Checking); }
    [[nodiscard]] int all_up() const { return all_in(SlotState::Ready) + all_in(SlotState::Checking); }
    [[nodiscard]] int wanted_count() const;
    // Has a machine, or may have one soon, and is not usable yet.
    [[nodiscard]] int under_way() const;
  };

  [[nodiscard]] bool built() const { return built_; }
  void build(const ClusterState& state);
  // The slot is new or has changed.
  void put(const Slot& slot);
  void drop(const SlotId& id);

  // All slots, in two orders; and those that have a machine, of which a list may want only these few.
  [[nodiscard]] const std::map<Place, SlotId>& by_creation() const { return by_creation_; }
  [[nodiscard]] const std::map<Place, SlotId>& launched() const { return launched_; }
  [[nodiscard]] const std::map<std::string, OfGroup>& by_name() const { return groups_; }
  // A group without slots has an empty entry.
  [[nodiscard]] const OfGroup& group(const std::string& name) const;
  [[nodiscard]] const std::set<SlotId>& in_state(SlotState state) const {
    return in_state_[static_cast<std::size_t>(state)];
  }
  // Grows whenever a slot enters or leaves the state.
  [[nodiscard]] std::uint64_t version(SlotState state) const { return versions_[static_cast<std::size_t>(state)]; }
  [[nodiscard]] const SlotId* by_node(const std::string& node_name) const;
  [[nodiscard]] int count() const { return static_cast<int>(entries_.size()); }

 private:
  struct Entry {
    OfGroup* group = nullptr;
    std::string node_name;
    int number = 0;
    Place place;
    SlotState state = SlotState::Wanted;
    bool wanted = true;
    bool waiting = false;
    bool launched = false;
    bool up = false;
    std::string type, image;  // while it is up
  };
  static void count(const Entry& entry, int by);
  static void count_up(Entry& entry, const Slot& slot);
  void place(const SlotId& id, Entry& entry, Time created, bool launched);
  void leave(const SlotId& id, SlotState state);

  bool built_ = false;
  std::map<std::string, OfGroup> groups_;
  std::map<Place, SlotId> by_creation_, launched_;
  std::array<std::set<SlotId>, kSlotStates> in_state_;
  std::array<std::uint64_t, kSlotStates> versions_{};
  std::unordered_map<SlotId, Entry> entries_;
  std::unordered_map<std::string, SlotId> by_node_;
};

// The slots to look at: now, and when their time has come. A slot has one time, the soonest that was asked for.
class Agenda {
 public:
  void now(const SlotId& id) { now_.insert(id); }
  void at(const SlotId& id, Time time);
  void drop(const SlotId& id);
  // Takes all that are due; their times are forgotten.
  std::vector<SlotId> take(Time now);
  [[nodiscard]] bool empty(Time now) const;
  // When there is something to look at; nothing: never.
  [[nodiscard]] std::optional<Time> next(Time now) const;

 private:
  std::set<SlotId> now_;
  std::set<std::pair<Time, SlotId>> later_;
  std::unordered_map<SlotId, Time> time_of_;
};

}  // namespace espalier::reconcile
