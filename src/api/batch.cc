// BatchAddClusterNodes, BatchDeleteClusterNodes, BatchReplaceClusterNodes, BatchRebootClusterNodes: answered node by
// node.
#include "api/lookup.h"
#include "api/read.h"

namespace espalier::api {
namespace {

// Documented, and tighter than the shapes.
constexpr std::int64_t kMostAdded = 50;
constexpr std::size_t kMostDeleted = 99;
constexpr std::size_t kMostDeletedMixed = 50;  // when NodeLogicalIds are among them
constexpr std::size_t kMostActedOn = 25;

std::vector<std::string> texts(const json::object& object, std::string_view name) {
  std::vector<std::string> out;
  if (const auto* list = member(object, name))
    for (const auto& item : list->get_array()) out.emplace_back(std::string_view(item.get_string()));
  return out;
}

// ---- adding

reconcile::AddNodes additions_of(const json::object& input) {
  reconcile::AddNodes request;
  request.client_token = text(input, "ClientToken");
  for (const auto& item : member(input, "NodesToAdd")->get_array()) {
    const auto& asked = item.get_object();
    request.additions.push_back({text(asked, "InstanceGroupName"),
                                 static_cast<int>(number(asked, "IncrementTargetCountBy")),
                                 texts(asked, "InstanceTypes"), texts(asked, "AvailabilityZones")});
  }
  return request;
}

void show_pools(const reconcile::NodeAddition& addition, json::object& out) {
  if (!addition.instance_types.empty()) out["InstanceTypes"] = to_json(addition.instance_types);
  if (!addition.zones.empty()) out["AvailabilityZones"] = to_json(addition.zones);
}

json::object shown(const reconcile::AddNodesAnswer& answer) {
  json::array added;
  for (const auto& node : answer.added)
    added.push_back(
        {{"NodeLogicalId", node.slot.value}, {"InstanceGroupName", node.group}, {"Status", enum_name(node.status)}});
  json::array failed;
  for (const auto& failure : answer.failed) {
    json::object out{{"InstanceGroupName", failure.addition.group},
                     {"ErrorCode", failure.code},
                     {"FailedCount", failure.addition.count},
                     {"Message", failure.message}};
    show_pools(failure.addition, out);
    failed.push_back(std::move(out));
  }
  return {{"Successful", std::move(added)}, {"Failed", std::move(failed)}};
}

void add_nodes(const Services& services, const Call& call, const Done& done) {
  const auto request = additions_of(call.input);
  std::int64_t sum = 0;
  for (const auto& addition : request.additions) sum += addition.count;
  if (sum > kMostAdded)
    return done(
        fail(ErrorCode::kInvalid, "NodesToAdd would add {} nodes; one request adds at most {}", sum, kMostAdded));
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  services.clusters.add_nodes(*id, request, [done](const Result<reconcile::AddNodesAnswer>& answer) {
    done(answer ? Result<json::object>(shown(*answer)) : tl::unexpected(answer.error()));
  });
}

// ---- deleting, replacing, rebooting

struct Kind {
  reconcile::NodeAction action;
  const char* code;                      // the member of a failure that has its code
  const char *not_found, *status, *use;  // its values
};
constexpr Kind kDelete{reconcile::NodeAction::Delete, "Code", "NodeIdNotFound", "InvalidNodeStatus", "NodeIdInUse"};
constexpr Kind kReplace{reconcile::NodeAction::Replace, "ErrorCode", "InstanceIdNotFound", "InvalidInstanceStatus",
                        "InstanceIdInUse"};
constexpr Kind kReboot{reconcile::NodeAction::Reboot, "ErrorCode", "InstanceIdNotFound", "InvalidInstanceStatus",
                       "InstanceIdInUse"};

const char* code_of(const Kind& kind, reconcile::NodeRefusal why) {
  switch (why) {
    case reconcile::NodeRefusal::NotFound:
      return kind.not_found;
    case reconcile::NodeRefusal::InvalidStatus:
      return kind.status;
    case reconcile::NodeRefusal::InUse:
      return kind.use;
  }
  return kind.status;
}

Result<reconcile::ActOnNodes> action_of(const Kind& kind, const json::object& input) {
  const auto ids = texts(input, "NodeIds");
  const auto logical = texts(input, "NodeLogicalIds");
  const auto count = ids.size() + logical.size();
  if (count == 0) return fail(ErrorCode::kInvalid, "Pass NodeIds, NodeLogicalIds or both");
  std::size_t most = kMostActedOn;
  if (kind.action == reconcile::NodeAction::Delete) most = logical.empty() ? kMostDeleted : kMostDeletedMixed;
  if (count > most)
    return fail(ErrorCode::kInvalid, "NodeIds and NodeLogicalIds name {} nodes; one request takes at most {}{}", count,
                most, most == kMostDeletedMixed ? ", or 99 by NodeIds alone" : "");
  reconcile::ActOnNodes request;
  request.action = kind.action;
  for (const auto& id : ids) request.nodes.push_back({MachineId(id), {}});
  for (const auto& id : logical) request.nodes.push_back({{}, SlotId(id)});
  return request;
}

// The answer's lists must not be empty: they come to be with their first item.
void append(json::object& out, const char* list, json::value item) {
  if (!out.contains(list)) out[list] = json::array();
  out[list].as_array().push_back(std::move(item));
}

json::object shown(const Kind& kind, const reconcile::ActOnNodesAnswer& answer) {
  json::object out;
  for (const auto& node : answer.done)
    if (node.slot.empty())
      append(out, "Successful", json::string(node.machine.value));
    else
      append(out, "SuccessfulNodeLogicalIds", json::string(node.slot.value));
  for (const auto& failure : answer.failed) {
    const bool by_slot = !failure.node.slot.empty();
    append(out, by_slot ? "FailedNodeLogicalIds" : "Failed",
           {{by_slot ? "NodeLogicalId" : "NodeId", by_slot ? failure.node.slot.value : failure.node.machine.value},
            {kind.code, code_of(kind, failure.why)},
            {"Message", failure.message}});
  }
  return out;
}

// Deleting is a 400 when all of it fails; the others tell of each node whatever came of it.
Result<json::object> answer_of(const Kind& kind, const reconcile::ActOnNodesAnswer& answer) {
  if (kind.action != reconcile::NodeAction::Delete || !answer.done.empty()) return shown(kind, answer);
  std::vector<std::string> reasons;
  for (const auto& failure : answer.failed)
    reasons.push_back(fmt::format("{}: {}", code_of(kind, failure.why), failure.message));
  return fail(ErrorCode::kInvalid, "No node can be deleted: {}", fmt::join(reasons, "; "));
}

void act_on_nodes(const Kind& kind, const Services& services, const Call& call, const Done& done) {
  const auto request = action_of(kind, call.input);
  if (!request) return done(tl::unexpected(request.error()));
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  services.clusters.act_on_nodes(*id, *request, [&kind, done](const Result<reconcile::ActOnNodesAnswer>& answer) {
    done(answer ? answer_of(kind, *answer) : tl::unexpected(answer.error()));
  });
}

Operation action(std::string target, const Kind& kind) {
  return {std::move(target), [&kind](const Services& services, const Call& call, const Done& done) {
            act_on_nodes(kind, services, call, done);
          }};
}

}  // namespace

std::vector<Operation> batch_operations() {
  return {{"SageMaker.BatchAddClusterNodes", add_nodes},
          action("SageMaker.BatchDeleteClusterNodes", kDelete),
          action("SageMaker.BatchReplaceClusterNodes", kReplace),
          action("SageMaker.BatchRebootClusterNodes", kReboot)};
}

}  // namespace espalier::api
