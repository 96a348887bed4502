#include "reconcile/slurm/imex.h"

#include "reconcile/slot/life.h"

namespace espalier::reconcile {

namespace {

std::string list_of(Work& work, const std::vector<std::string>& nodes) {
  std::string text;
  for (const auto& node : nodes)
    if (const Slot* slot = work.slot_of_node(node); slot && slot->machine) text += slot->machine->address + "\n";
  return text;
}

// True when the machine had another list, or none.
bool note_sent(Work& work, const MachineId& machine, const std::string& text) {
  const std::size_t hash = std::hash<std::string>()(text);
  const auto [sent, is_first] = work.observed.imex_sent.try_emplace(machine, hash);
  return is_first || std::exchange(sent->second, hash) != hash;
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
  note_sent(work, slot.machine->id, text);
  return {{kImexNodes, text, false}};
}

void spread_imex(Work& work) {
  Observed& observed = work.observed;
  if (!observed.imex_stale || !observed.wanted || work.ending()) return;
  observed.imex_stale = false;
  for (const auto& [domain, nodes] : observed.wanted->plan.nvlink_domains) {
    const std::string text = list_of(work, nodes);
    for (const auto& node : nodes) {
      const Slot* slot = work.slot_of_node(node);
      if (!slot || !may_be_told(work, *slot) || !note_sent(work, slot->machine->id, text)) continue;
      agent::Command command;
      command.extra = std::vector<agent::ConfigFile>{{kImexNodes, text, false}};
      work.send(slot->machine->id, std::move(command));
    }
  }
}

}  // namespace espalier::reconcile
