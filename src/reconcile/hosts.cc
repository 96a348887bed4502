#include "reconcile/hosts.h"

#include <algorithm>
#include <map>

#include "reconcile/slot/life.h"
#include "reconcile/work.h"

namespace espalier::reconcile {

namespace {

// A longer one is sent to nobody: the whole list is encoded once for all.
constexpr std::size_t kMostTold = 64;

agent::HostsDelta difference(const HostsBook::Hosts& from, const HostsBook::Hosts& to) {
  agent::HostsDelta delta;
  auto old = from.begin();
  for (const agent::HostEntry& entry : to) {
    for (; old != from.end() && old->name < entry.name; ++old) delta.drop.push_back(old->name);
    const bool known = old != from.end() && old->name == entry.name;
    if (!known || old->address != entry.address) delta.put.push_back(entry);
    if (known) ++old;
  }
  for (; old != from.end(); ++old) delta.drop.push_back(old->name);
  return delta;
}

HostsBook::Hosts make_hosts(const ClusterState& state) {
  HostsBook::Hosts hosts;
  for (const auto& [id, slot] : state.slots)
    if (slot.machine && slot.state != SlotState::Terminating) hosts.push_back({slot.node_name, slot.machine->address});
  std::ranges::sort(hosts);
  return hosts;
}

void tell(Work& work, const MachineId& machine, std::map<std::int64_t, std::optional<agent::HostsDelta>>& deltas) {
  const HostsBook& book = work.observed.hosts;
  std::int64_t& has = work.observed.hosts_sent[machine];
  if (has == book.version()) return;
  const auto [delta, is_new] = deltas.try_emplace(has);
  if (is_new) delta->second = book.since(has);
  has = book.version();
  agent::Command command;
  if (delta->second && delta->second->put.size() + delta->second->drop.size() <= kMostTold)
    command.hosts_delta = *delta->second;
  else
    command.hosts = true;
  work.send(machine, std::move(command));
}

}  // namespace

bool HostsBook::update(Hosts hosts) {
  if (version_ > 0 && hosts == hosts_) return false;
  changes_.push_back(difference(hosts_, hosts));
  if (changes_.size() > kKept) changes_.pop_front();
  hosts_ = std::move(hosts);
  encoded_.reset();
  ++version_;
  return true;
}

std::shared_ptr<const std::string> HostsBook::encoded() {
  if (!encoded_ && version_ > 0)
    encoded_ = std::make_shared<const std::string>(json::serialize(to_json(agent::HostsAnswer{hosts_})));
  return encoded_;
}

std::optional<agent::HostsDelta> HostsBook::since(std::int64_t version) const {
  const std::int64_t missed = version_ - version;
  if (version <= 0 || missed > std::ssize(changes_)) return std::nullopt;
  std::map<std::string, std::string> last;  // name → address, "" when it was dropped
  for (auto change = changes_.end() - missed; change != changes_.end(); ++change) {
    for (const std::string& name : change->drop) last[name] = "";
    for (const agent::HostEntry& entry : change->put) last[entry.name] = entry.address;
  }
  agent::HostsDelta delta;
  for (auto& [name, address] : last) {
    if (address.empty())
      delta.drop.push_back(name);
    else
      delta.put.push_back({name, address});
  }
  return delta;
}

void refresh_hosts(Work& work) {
  Observed& observed = work.observed;
  if (!observed.hosts_stale) return;
  const Time due = observed.hosts_at + Millis(work.index().count() / 100);
  if (work.now() < due) return work.wake_at(due);
  observed.hosts_stale = false;
  observed.hosts_at = work.now();
  if (observed.hosts.update(make_hosts(work.state))) observed.hosts_changed_at = work.now();
}

void spread_hosts(Work& work) {
  Observed& observed = work.observed;
  if (work.ending()) return;
  refresh_hosts(work);
  if (!observed.hosts_changed_at) return;
  if (const Time due = *observed.hosts_changed_at + work.settings().hosts_quiet; work.now() < due)
    return work.wake_at(due);
  observed.hosts_changed_at.reset();
  std::map<std::int64_t, std::optional<agent::HostsDelta>> deltas;
  for (const SlotState state : kSetUp)
    for (const Slot* slot : work.slots_in(state))
      if (observed.agents.contains(slot->machine->id)) tell(work, slot->machine->id, deltas);
}

}  // namespace espalier::reconcile
