#include "reconcile/nodes.h"

#include <algorithm>

#include "reconcile/events.h"
#include "reconcile/group/group.h"
#include "reconcile/repair/repair.h"
#include "reconcile/status.h"
#include "reconcile/wish.h"

namespace espalier::reconcile {

namespace {

constexpr Millis kTokenKept{8 * 3600 * 1000};

// Why the addition cannot be; empty code: it can.
AddFailure refusal(const Work& work, const NodeAddition& addition) {
  const auto found = work.state.groups.find(addition.group);
  if (found == work.state.groups.end() || found->second.deleting)
    return {addition, "InstanceGroupNotFound", fmt::format("the cluster has no InstanceGroup '{}'", addition.group)};
  const Group& group = found->second;
  if (group.type == NodeType::Controller)
    return {addition, "InvalidInstanceGroupStatus", "the Controller group has one instance, which cannot be more"};
  if (group.minimum)
    return {
        addition, "InvalidInstanceGroupStatus",
        fmt::format("InstanceGroup '{}' waits for its MinInstanceCount: try again when it is InService", group.name)};
  const auto types = types_of(group);
  for (const std::string& type : addition.instance_types)
    if (std::ranges::find(types, type) == types.end())
      return {addition, "IncompatibleInstanceTypes",
              fmt::format("InstanceGroup '{}' has no instance type {}", group.name, type)};
  if (!addition.zones.empty() && !group.spec.contains("OverrideVpcConfig"))
    return {addition, "IncompatibleAvailabilityZones",
            fmt::format("InstanceGroup '{}' is not spread over zones: leave AvailabilityZones out", group.name)};
  return {};
}

std::string text_of(const std::vector<NodeAddition>& additions) { return json::serialize(to_json(additions)); }

AddNodesAnswer repeat(const Work& work, const AddedBefore& before) {
  AddNodesAnswer answer;
  for (const auto& [slot, group] : before.slots) {
    const auto found = work.state.slots.find(slot);
    answer.added.push_back(
        {slot, group, found == work.state.slots.end() ? InstanceStatus::NotFound : instance_status(found->second)});
  }
  return answer;
}

Result<void> fits(const Work& work, const AddNodes& request) {
  ClusterChange change;
  for (const NodeAddition& addition : request.additions) {
    if (!refusal(work, addition).code.empty()) continue;
    const auto same = std::ranges::find(change.groups, addition.group, &GroupWish::name);
    GroupWish& wish =
        same == change.groups.end() ? change.groups.emplace_back(wish_of(work.state.groups.at(addition.group))) : *same;
    wish.count += addition.count;
  }
  return check(change, work.state, work.settings().quotas, work.context.instances_elsewhere);
}

void forget_old_tokens(Work& work) {
  auto& tokens = work.state.cluster.added;
  if (std::erase_if(tokens, [&](const auto& item) { return item.second.at + kTokenKept <= work.now(); }) > 0)
    work.touch_cluster();
}

// ---- deleting, replacing, rebooting

Slot* find(Work& work, const NodeRef& ref) {
  return ref.slot.empty() ? work.slot_of(ref.machine) : work.slot(ref.slot);
}

std::optional<NodeFailure> refusal(Work& work, const NodeRef& ref, NodeAction action) {
  const Slot* slot = find(work, ref);
  const std::string name = ref.slot.empty() ? ref.machine.value : ref.slot.value;
  auto refuse = [&](NodeRefusal why, std::string message) { return NodeFailure{ref, why, std::move(message)}; };
  if (!slot || !slot->wanted) return refuse(NodeRefusal::NotFound, fmt::format("the cluster has no node {}", name));
  const Group& group = work.group_of(*slot);
  if (group.type == NodeType::Controller)
    return refuse(NodeRefusal::InvalidStatus,
                  fmt::format("{} is the controller: its cluster runs on it", slot->node_name));
  if (action == NodeAction::Delete && group.minimum)
    return refuse(NodeRefusal::InvalidStatus,
                  fmt::format("InstanceGroup '{}' waits for its MinInstanceCount", group.name));
  if (action != NodeAction::Delete && !slot->machine)
    return refuse(NodeRefusal::InvalidStatus, fmt::format("{} has no machine yet", slot->node_name));
  if (action != NodeAction::Delete && (slot->state == SlotState::Draining || slot->state == SlotState::Terminating))
    return refuse(NodeRefusal::InUse, fmt::format("{} is being replaced already", slot->node_name));
  return std::nullopt;
}

void delete_node(Work& work, Slot& slot) {
  Group& group = work.touch(work.group_of(slot));
  group.target_count = std::max(0, group.target_count - 1);
  group.min_count = std::min(group.min_count, group.target_count);
  work.touch(slot).wanted = false;
  work.look_at(slot);
}

bool act(Work& work, Slot& slot, NodeAction action) {
  switch (action) {
    case NodeAction::Delete:
      delete_node(work, slot);
      return true;
    case NodeAction::Replace:
      return replace_machine(work, slot, "asked for by a user");
    case NodeAction::Reboot:
      return begin_repair(work, slot, {RepairKind::Reboot, false, false, "asked for by a user"});
  }
  return false;
}

}  // namespace

Result<UserAnswer> on_add_nodes(Work& work, const AddNodes& request) {
  if (work.deleting())
    return fail(ErrorCode::kConflict, "Cluster {} is being deleted and takes no changes", work.state.cluster.name);
  if (!work.state.cluster.continuous)
    return fail(ErrorCode::kInvalid, "BatchAddClusterNodes needs a cluster with NodeProvisioningMode=Continuous");
  forget_old_tokens(work);
  auto& tokens = work.state.cluster.added;
  const std::string text = text_of(request.additions);
  if (const auto before = tokens.find(request.client_token); !request.client_token.empty() && before != tokens.end()) {
    if (before->second.request != text)
      return fail(ErrorCode::kInvalid, "ClientToken {} was used with other NodesToAdd", request.client_token);
    return repeat(work, before->second);
  }
  if (auto ok = fits(work, request); !ok) return tl::unexpected(ok.error());
  AddNodesAnswer answer;
  AddedBefore remembered{work.now(), text, {}};
  for (const NodeAddition& addition : request.additions) {
    if (AddFailure failure = refusal(work, addition); !failure.code.empty()) {
      answer.failed.push_back(std::move(failure));
      continue;
    }
    Group& group = work.touch(work.state.groups.at(addition.group));
    group.target_count += addition.count;
    for (const SlotId& id : add_slots(work, group, addition.count)) {
      answer.added.push_back({id, group.name, InstanceStatus::Pending});
      remembered.slots.push_back({id, group.name});
    }
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("InstanceGroup {} Scaling started successfully in Cluster {}", group.name,
                              work.state.cluster.name));
  }
  if (!request.client_token.empty()) {
    tokens[request.client_token] = std::move(remembered);
    work.touch_cluster();
  }
  return answer;
}

Result<UserAnswer> on_act_on_nodes(Work& work, const ActOnNodes& request) {
  if (work.deleting())
    return fail(ErrorCode::kConflict, "Cluster {} is being deleted and takes no changes", work.state.cluster.name);
  ActOnNodesAnswer answer;
  for (const NodeRef& ref : request.nodes) {
    if (auto failure = refusal(work, ref, request.action))
      answer.failed.push_back(std::move(*failure));
    else if (!act(work, *find(work, ref), request.action))
      answer.failed.push_back(
          {ref, NodeRefusal::InvalidStatus,
           fmt::format("{} is {} now", find(work, ref)->node_name, enum_name(find(work, ref)->state))});
    else
      answer.done.push_back(ref);
  }
  return answer;
}

bool replace_machine(Work& work, Slot& slot, const std::string& why) {
  if (!next(slot.state, Cause::kReplaced)) return false;
  instance_event(work, slot, EventLevel::Info,
                 fmt::format("Instance {} is to be replaced in Cluster {} and IG {}: {}", slot.machine->id.value,
                             work.state.cluster.name, slot.group, why));
  return work.move(slot, Cause::kReplaced);
}

}  // namespace espalier::reconcile
