// Espalier.ExplainNode: why a node is where it is, and what happened to it.
#include "api/lookup.h"
#include "api/own_node.h"
#include "api/read.h"
#include "api/show.h"
#include "topology/why.h"

namespace espalier::api {

json::object own_node(const engine::View& view, const Group& group, const Slot& slot,
                      const std::map<std::string, std::string>& leaves) {
  json::object out{{"NodeName", slot.node_name},        {"NodeLogicalId", slot.id.value},
                   {"InstanceGroupName", slot.group},   {"InstanceType", slot.instance_type},
                   {"NodeType", enum_name(group.type)}, {"State", enum_name(slot.state)},
                   {"Since", timestamp(slot.since)},    {"Attempts", slot.attempts}};
  if (slot.machine) {
    out["InstanceId"] = slot.machine->id.value;
    out["Address"] = slot.machine->address;
    if (!slot.machine->position.domain.empty()) out["Domain"] = slot.machine->position.domain;
  }
  if (const auto leaf = leaves.find(slot.node_name); leaf != leaves.end()) out["Leaf"] = leaf->second;
  if (const auto seen = view.slurm_nodes.find(slot.node_name); seen != view.slurm_nodes.end())
    out["SlurmState"] = seen->second.state;
  if (const auto next = view.next_launch(slot)) out["NextTry"] = timestamp(*next);
  if (!slot.failure_message.empty()) out["Message"] = slot.failure_message;
  return out;
}

namespace {

json::array conditions_of(const Slot& slot) {
  json::array out;
  for (const auto& [type, condition] : slot.conditions)
    out.push_back({{"Type", type},
                   {"Holds", condition.holds},
                   {"Reason", condition.reason},
                   {"Since", timestamp(condition.since)}});
  return out;
}

json::object shown(const agent::Health& health) {
  json::array daemons, disks;
  for (const auto& daemon : health.daemons)
    daemons.push_back({{"Name", daemon.name}, {"Running", daemon.running}, {"Message", daemon.message}});
  for (const auto& disk : health.view.disks)
    disks.push_back({{"Path", disk.path}, {"FreeBytes", disk.free_bytes}, {"TotalBytes", disk.total_bytes}});
  return {{"BootedAt", timestamp(health.view.booted_at)},
          {"ClockAheadMillis", health.clock_ahead.count()},
          {"Gpus", health.view.gpus},
          {"NeuronDevices", health.view.neuron_devices},
          {"Daemons", std::move(daemons)},
          {"Disks", std::move(disks)}};
}

// The last events of the slot, the newest first; looked for among the last of its group.
Result<json::array> history_of(const Services& services, const ClusterId& cluster, const Slot& slot) {
  constexpr int kLookedAt = 1000;
  constexpr std::size_t kShown = 20;
  store::EventQuery query;
  query.cluster = cluster;
  query.group = slot.group;
  query.limit = kLookedAt;
  const auto events = services.clusters.events(query);
  if (!events) return tl::unexpected(events.error());
  json::array out;
  for (const Event& event : *events) {
    if (event.slot != slot.id || out.size() == kShown) continue;
    json::object shown{{"EventTime", timestamp(event.time)},
                       {"EventLevel", enum_name(event.level)},
                       {"Description", event.description}};
    if (const auto failure = failure_message_of(event); !failure.empty()) shown["FailureMessage"] = failure;
    out.push_back(std::move(shown));
  }
  return out;
}

Result<json::object> explain_node(const Services& services, const Call& call) {
  if (auto one = exactly_one_of(call.input, {"NodeName", "NodeId", "NodeLogicalId"}); !one)
    return tl::unexpected(one.error());
  std::optional<Slot> found;
  ClusterId cluster;
  auto answer = read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    const auto slot = find_node(view, call.input);
    if (!slot) return tl::unexpected(slot.error());
    found = **slot;
    cluster = view.state.cluster.id;
    const auto& wanted = view.wanted();
    const auto leaves = topology::leaves(wanted.plan.main());
    const auto why = view.explain(*found);
    const bool compute = view.state.groups.at(found->group).type == NodeType::Compute;
    json::object out{{"Node", own_node(view, view.state.groups.at(found->group), *found, leaves)},
                     {"Because", why.because},
                     {"Next", why.next},
                     {"Conditions", conditions_of(*found)}};
    if (why.next_at) out["NextAt"] = timestamp(*why.next_at);
    if (const auto told = found->machine ? view.health.find(found->machine->id) : view.health.end();
        told != view.health.end())
      out["Health"] = shown(told->second);
    if (compute) out["Places"] = to_json(topology::why_there(wanted.plan, reconcile::member_of(*found)));
    return out;
  });
  if (!answer) return answer;
  auto history = history_of(services, cluster, *found);
  if (!history) return tl::unexpected(history.error());
  (*answer)["History"] = std::move(*history);
  return answer;
}

}  // namespace

std::vector<Operation> explain_operations() { return {at_once("Espalier.ExplainNode", explain_node)}; }

}  // namespace espalier::api
