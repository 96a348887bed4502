#include "reconcile/index.h"

#include <numeric>

namespace espalier::reconcile {

bool waits_for_pool(const Slot& slot) {
  return slot.wanted &&
         (slot.state == SlotState::Wanted || (slot.state == SlotState::Backoff && !slot.next_try.has_value()));
}

bool is_up(const Slot& slot) {
  return slot.machine &&
         (slot.state == SlotState::Ready || slot.state == SlotState::Checking || slot.state == SlotState::Draining);
}

Time creation_time(const Slot& slot) { return slot.machine ? slot.machine->launched_at : slot.created_at; }

int Index::OfGroup::wanted_count() const { return std::accumulate(wanted.begin(), wanted.end(), 0); }

int Index::OfGroup::under_way() const {
  return all_in(SlotState::Launching) + all_in(SlotState::Booting) + all_in(SlotState::Configuring) +
         all_in(SlotState::Joining);
}

void Index::build(const ClusterState& state) {
  *this = Index();
  built_ = true;
  for (const auto& [id, slot] : state.slots) put(slot);
}

void Index::count(const Entry& entry, int by) {
  entry.group->all[static_cast<std::size_t>(entry.state)] += by;
  if (entry.wanted) entry.group->wanted[static_cast<std::size_t>(entry.state)] += by;
}

void Index::count_up(Entry& entry, const Slot& slot) {
  const auto add = [](std::map<std::string, int>& counts, const std::string& key, int by) {
    if (!key.empty() && (counts[key] += by) == 0) counts.erase(key);
  };
  const auto add_all = [&](int by) {
    entry.group->up += by;
    add(entry.group->up_types, entry.type, by);
    add(entry.group->up_images, entry.image, by);
  };
  if (entry.up) add_all(-1);
  entry.up = is_up(slot);
  if (!entry.up) return;
  entry.type = slot.instance_type;
  entry.image = slot.machine->image;
  add_all(1);
}

void Index::leave(const SlotId& id, SlotState state) {
  in_state_[static_cast<std::size_t>(state)].erase(id);
  ++versions_[static_cast<std::size_t>(state)];
}

void Index::place(const SlotId& id, Entry& entry, Time created, bool launched) {
  by_creation_.erase(entry.place);
  launched_.erase(entry.place);
  entry.place.created = created;
  entry.launched = launched;
  by_creation_[entry.place] = id;
  if (launched) {
    launched_[entry.place] = id;
    entry.group->launched[entry.number] = id;
  } else {
    entry.group->launched.erase(entry.number);
  }
}

void Index::put(const Slot& slot) {
  const auto [found, is_new] = entries_.try_emplace(slot.id);
  Entry& entry = found->second;
  if (is_new) {
    const auto group = groups_.try_emplace(slot.group).first;
    entry.group = &group->second;
    entry.place = {Time(), group->first, slot.number};
    entry.group->by_number[slot.number] = slot.id;
    entry.number = slot.number;
    entry.node_name = slot.node_name;
    by_node_[slot.node_name] = slot.id;
  } else {
    count(entry, -1);
    if (entry.state != slot.state) leave(slot.id, entry.state);
  }
  if (is_new || entry.state != slot.state) {
    in_state_[static_cast<std::size_t>(slot.state)].insert(slot.id);
    ++versions_[static_cast<std::size_t>(slot.state)];
  }
  if (const Time created = creation_time(slot);
      is_new || created != entry.place.created || slot.machine.has_value() != entry.launched)
    place(slot.id, entry, created, slot.machine.has_value());
  entry.state = slot.state;
  entry.wanted = slot.wanted;
  count(entry, 1);
  if (entry.up || is_up(slot)) count_up(entry, slot);
  if (const bool waiting = waits_for_pool(slot); waiting != entry.waiting) {
    entry.waiting = waiting;
    if (waiting)
      entry.group->waiting.insert(entry.number);
    else
      entry.group->waiting.erase(entry.number);
  }
}

void Index::drop(const SlotId& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  count(entry, -1);
  if (entry.up) count_up(entry, Slot());
  leave(id, entry.state);
  entry.group->waiting.erase(entry.number);
  entry.group->by_number.erase(entry.number);
  entry.group->launched.erase(entry.number);
  by_node_.erase(entry.node_name);
  by_creation_.erase(entry.place);
  launched_.erase(entry.place);
  entries_.erase(found);
}

const Index::OfGroup& Index::group(const std::string& name) const {
  static const OfGroup kNone;
  const auto found = groups_.find(name);
  return found == groups_.end() ? kNone : found->second;
}

const SlotId* Index::by_node(const std::string& node_name) const {
  const auto found = by_node_.find(node_name);
  return found == by_node_.end() ? nullptr : &found->second;
}

void Agenda::at(const SlotId& id, Time time) {
  const auto [found, is_new] = time_of_.try_emplace(id, time);
  if (!is_new) {
    if (found->second <= time) return;
    later_.erase({found->second, id});
    found->second = time;
  }
  later_.insert({time, id});
}

void Agenda::drop(const SlotId& id) {
  now_.erase(id);
  const auto found = time_of_.find(id);
  if (found == time_of_.end()) return;
  later_.erase({found->second, id});
  time_of_.erase(found);
}

std::vector<SlotId> Agenda::take(Time now) {
  while (!later_.empty() && later_.begin()->first <= now) {
    now_.insert(later_.begin()->second);
    time_of_.erase(later_.begin()->second);
    later_.erase(later_.begin());
  }
  std::vector<SlotId> due(now_.begin(), now_.end());
  now_.clear();
  return due;
}

bool Agenda::empty(Time now) const { return now_.empty() && (later_.empty() || later_.begin()->first > now); }

std::optional<Time> Agenda::next(Time now) const {
  if (!now_.empty()) return now;
  if (later_.empty()) return std::nullopt;
  return later_.begin()->first;
}

}  // namespace espalier::reconcile
