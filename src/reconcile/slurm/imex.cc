#include "reconcile/slurm/imex.h"

#include <utility>

#include "reconcile/events.h"
#include "reconcile/slot/life.h"

namespace espalier::reconcile {

namespace {

std::string list_of(Work& work, const std::vector<std::string>& nodes) {
  std::string text;
  for (const auto& node : nodes)
    if (const Slot* slot = work.slot_of_node(node); slot && slot->machine) text += slot->machine->address + "\n";
  return text;
}

constexpr Millis kAgain{5000};  // after a write that failed

std::size_t hash_of(const std::string& text) { return std::hash<std::string>()(text); }

bool has_been_sent(const Work& work, const MachineId& machine, const std::string& text) {
  const auto sent = work.observed.imex_sent.find(machine);
  if (sent == work.observed.imex_sent.end() || sent->second.list != hash_of(text)) return false;
  return !sent->second.failed || !sent->second.command.empty();
}

void send_list(Work& work, const MachineId& machine, const std::string& text) {
  agent::Command command;
  command.extra = std::vector<agent::ConfigFile>{{kImexNodes, text, false}};
  auto& sent = work.observed.imex_sent[machine];
  sent.list = hash_of(text);
  sent.command = work.send(machine, std::move(command));
}

bool may_be_told(const Work& work, const Slot& slot) {
  return is_set_up(slot.state) && slot.machine && work.observed.agents.contains(slot.machine->id);
}

}  // namespace

std::vector<agent::ConfigFile> imex_files(Work& work, const Slot& slot) {
  if (!work.observed.wanted) return {};
  const auto& domains = work.observed.wanted->plan.nvlink_domains;
  const auto found = domains.find(slot.machine->position.domain);
  if (found == domains.end()) return {};
  const std::string text = list_of(work, found->second);
  work.observed.imex_sent[slot.machine->id] = {hash_of(text), "", false};
  return {{kImexNodes, text, false}};
}

bool on_imex_done(Work& work, const Slot& slot, const agent::CommandResult& result) {
  const auto sent = work.observed.imex_sent.find(slot.machine->id);
  if (sent == work.observed.imex_sent.end() || sent->second.command != result.id) return false;
  sent->second.command.clear();
  const bool failed_before = std::exchange(sent->second.failed, !result.ok);
  if (result.ok) return true;
  work.observed.imex_retry = work.now() + kAgain;
  if (!failed_before)
    instance_event(work, slot, EventLevel::Warn,
                   fmt::format("Instance {} could not write {}, the machines of its NVLink domain: it is tried again",
                               slot.machine->id.value, kImexNodes),
                   result.error);
  return true;
}

void spread_imex(Work& work) {
  Observed& observed = work.observed;
  if (observed.imex_retry && *observed.imex_retry > work.now()) work.wake_at(*observed.imex_retry);
  if (observed.imex_retry && *observed.imex_retry <= work.now()) {
    observed.imex_retry.reset();
    observed.imex_stale = true;
  }
  if (!observed.imex_stale || !observed.wanted || work.ending()) return;
  observed.imex_stale = false;
  for (const auto& [domain, nodes] : observed.wanted->plan.nvlink_domains) {
    const std::string text = list_of(work, nodes);
    for (const auto& node : nodes) {
      const Slot* slot = work.slot_of_node(node);
      if (slot && may_be_told(work, *slot) && !has_been_sent(work, slot->machine->id, text))
        send_list(work, slot->machine->id, text);
    }
  }
}

}  // namespace espalier::reconcile
