#include "user.h"

#include <array>

#include "api/shapes.h"
#include "api/validate.h"
#include "cloud.h"

namespace espalier::sim {

namespace {

constexpr Millis kPatience{60'000};
constexpr Millis kInsistEvery{5'000};
constexpr std::array kTypes{"ml.p5.48xlarge", "ml.p4d.24xlarge", "ml.c5.4xlarge", "ml.m5.large"};
constexpr int kMostGroups = 3;
constexpr int kMostNodes = 6;
constexpr std::int64_t kGoing = -1;
constexpr const char* kRole = "arn:aws:iam::000000000000:role/sim";

std::string text(const json::object& object, const char* name) {
  const auto* member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string(std::string_view(member->get_string())) : "";
}

// How `wish` shows in an answer.
std::vector<std::string> types_of(const WishedGroup& wish) {
  return wish.types.empty() ? std::vector<std::string>{wish.instance_type} : wish.types;
}
std::vector<std::string> types_of(const json::object& group) {
  if (!group.contains("InstanceRequirements")) return {text(group, "InstanceType")};
  std::vector<std::string> types;
  for (const auto& type : group.at("InstanceRequirements").as_object().at("CurrentInstanceTypes").as_array())
    types.emplace_back(std::string_view(type.as_string()));
  return types;
}

// The shape requires what a node without machine cannot have.
void complete(json::object& body) {
  if (auto* nodes = body.if_contains("ClusterNodeSummaries"))
    for (auto& node : nodes->as_array())
      for (const auto* name : {"InstanceId", "LaunchTime"})
        if (!node.as_object().contains(name)) node.as_object()[name] = *name == 'L' ? json::value(0) : json::value("");
}

}  // namespace

void User::ask(const std::string& operation, const json::object& body, Answered answered) {
  const std::string target = operation.find('.') == std::string::npos ? "SageMaker." + operation : operation;
  http::Request request{"POST", "/", {{"X-Amz-Target", target}}, json::serialize(body), "10.0.0.1"};
  network_.call(Door::kApi, std::move(request), kPatience,
                [this, target, answered = std::move(answered)](const std::optional<http::Response>& response) {
                  if (!response) return answered(0, {});
                  ++answers_;
                  auto parsed = parse_json(response->body);
                  if (!parsed || !parsed->is_object()) {
                    nature_.violated("{} answers {} with '{}'", target, response->status, response->body);
                    return;
                  }
                  json::object& object = parsed->get_object();
                  if (response->status == 500) nature_.violated("{} answers 500: {}", target, response->body);
                  if (const api::Shape* shape = api::output_shape(target);
                      shape != nullptr && response->status == 200) {
                    json::object whole = object;
                    complete(whole);
                    if (const auto valid = api::validate(*shape, whole); !valid)
                      nature_.violated("{} answers what its shape does not allow: {}", target, valid.error().message);
                  }
                  answered(response->status, object);
                });
}

// ---- at random -----------------------------------------------------------------------------------------------------

WishedCluster User::any_cluster() {
  WishedCluster wish;
  wish.wanted = true;
  wish.groups["ctl"] = {"Controller", "ml.m5.xlarge", 1};
  if (nature_.time.chance(0.4)) wish.groups["login"] = {"Login", "ml.c5.4xlarge", 1};
  const int groups = nature_.time.between(1, kMostGroups);
  for (int i = 0; i < groups; ++i) wish.groups[fmt::format("g{}", i)] = any_group();
  wish.continuous = !nature_.time.chance(0.1);
  if (!wish.continuous)
    for (auto& [name, group] : wish.groups) group.minimum = 0;
  return wish;
}

WishedGroup User::any_group() {
  WishedGroup group{"Compute", kTypes.at(nature_.time.random().below(kTypes.size())),
                    nature_.time.between(1, kMostNodes)};
  if (nature_.time.chance(0.2)) group.minimum = nature_.time.between(1, group.count);
  if (nature_.time.chance(0.2)) {
    group.types = {kTypes.begin(), kTypes.end()};
    std::swap(group.types.front(), group.types.at(nature_.time.random().below(group.types.size())));
    group.types.resize(static_cast<std::size_t>(nature_.time.between(2, 3)));
  }
  return group;
}

void User::do_something() {
  const std::string name = fmt::format("c{}", nature_.time.between(0, 1));
  WishedCluster& wish = wishes_[name];
  if (!wish.wanted) {
    if (nature_.time.chance(0.5)) return;
    wish = any_cluster();
    return create(name);
  }
  if (nature_.time.chance(0.05)) {
    wish.wanted = false;
    return remove(name);
  }
  if (nature_.time.chance(0.4)) return look_at_something(name);
  if (nature_.time.chance(0.3)) return act_on_nodes(name);
  if (nature_.time.chance(0.15)) return add_nodes(name);
  if (nature_.time.chance(0.1)) return update_software(name);
  update(name, scale_something(wish));
}

std::vector<std::string> User::scale_something(WishedCluster& wish) {
  std::vector<std::string> dropped;
  const int changes = nature_.time.between(1, 2);
  for (int i = 0; i < changes; ++i) {
    const std::string name = fmt::format("g{}", nature_.time.between(0, kMostGroups - 1));
    const auto found = wish.groups.find(name);
    if (found == wish.groups.end()) {
      wish.groups[name] = any_group();
      if (!wish.continuous) wish.groups[name].minimum = 0;
    } else if (nature_.time.chance(0.15)) {
      wish.groups.erase(found);
      dropped.push_back(name);
    } else {
      found->second.count = nature_.time.between(0, kMostNodes);
    }
  }
  return dropped;
}

// ---- nodes by name ----

void User::act_on_nodes(const std::string& name) {
  ask("ListClusterNodes", {{"ClusterName", name}, {"IncludeNodeLogicalIds", true}},
      [this, name](int status, const json::object& body) {
        if (status == 200) act_on(name, body.at("ClusterNodeSummaries").as_array());
      });
}

void User::act_on(const std::string& name, const json::array& nodes) {
  static constexpr std::array kActions{"BatchDeleteClusterNodes", "BatchReplaceClusterNodes",
                                       "BatchRebootClusterNodes"};
  const std::string operation = kActions.at(nature_.time.random().below(kActions.size()));
  json::array ids;
  for (const auto& node : nodes)
    if (nature_.time.chance(0.3) && node.as_object().contains("NodeLogicalId"))
      ids.push_back(node.as_object().at("NodeLogicalId"));
  if (ids.empty()) return;
  const json::object request{{"ClusterName", name}, {"NodeLogicalIds", std::move(ids)}};
  nature_.log("user: {} {}", operation, json::serialize(request));
  ask(operation, request, [this, operation](int status, const json::object& said) {
    nature_.log("user: {}: {} {}", operation, status, json::serialize(said));
  });
}

// Twice with one token is once.
void User::add_nodes(const std::string& name) {
  auto& groups = wishes_[name].groups;
  auto group = groups.begin();
  std::advance(group, nature_.time.random().below(groups.size()));
  if (group->second.node_type != "Compute") return;
  const int count = nature_.time.between(1, 2);
  group->second.count += count;
  const json::object request{{"ClusterName", name},
                             {"ClientToken", nature_.time.random().hex(8)},
                             {"NodesToAdd", json::array{json::object{{"InstanceGroupName", group->first},
                                                                     {"IncrementTargetCountBy", count}}}}};
  nature_.log("user: adds {}", json::serialize(request));
  const int times = nature_.time.between(1, 2);
  for (int i = 0; i < times; ++i)
    ask("BatchAddClusterNodes", request, [this](int status, const json::object& said) {
      nature_.log("user: added: {} {}", status, json::serialize(said));
    });
}

void User::update_software(const std::string& name) {
  const json::object batch{{"Type", "INSTANCE_COUNT"}, {"Value", nature_.time.between(1, 3)}};
  const json::object request{
      {"ClusterName", name},
      {"ImageId", kImages.at(nature_.time.random().below(kImages.size()))},
      {"DeploymentConfig", json::object{{"RollingUpdatePolicy", json::object{{"MaximumBatchSize", batch}}},
                                        {"WaitIntervalInSeconds", nature_.time.between(0, 60)}}}};
  nature_.log("user: update software: {}", json::serialize(request));
  ask("UpdateClusterSoftware", request, [this](int status, const json::object& said) {
    nature_.log("user: update software: {} {}", status, json::serialize(said));
  });
}

// ---- groups ----

void User::look_at_something(const std::string& name) {
  static constexpr std::array kReads{"DescribeCluster",      "ListClusterNodes",        "ListClusterEvents",
                                     "ListClusters",         "Espalier.DescribeNodes",  "Espalier.DescribeTopology",
                                     "Espalier.WatchEvents", "Espalier.DescribeService"};
  const std::string operation = kReads.at(nature_.time.random().below(kReads.size()));
  json::object body;
  if (operation != "ListClusters" && operation != "Espalier.DescribeService") body["ClusterName"] = name;
  if (operation == "ListClusterNodes") body["IncludeNodeLogicalIds"] = true;
  if (operation == "Espalier.WatchEvents") body["WaitSeconds"] = 5;
  ask(operation, body, [](int, const json::object&) {});
}

json::object User::group_spec(const std::string& name, const WishedGroup& group, bool is_new) const {
  json::object slurm{{"NodeType", group.node_type}};
  const int count = is_new ? std::max(1, group.count) : group.count;  // a new one must have a node
  if (group.node_type == "Compute") slurm["PartitionNames"] = json::array{name + "-part"};
  json::object spec{{"InstanceGroupName", name},
                    {"InstanceCount", count},
                    {"ExecutionRole", kRole},
                    {"LifeCycleConfig", {{"SourceS3Uri", "s3://sagemaker-sim/"}, {"OnCreate", "on_create.sh"}}},
                    {"SlurmConfig", std::move(slurm)}};
  if (group.types.empty())
    spec["InstanceType"] = group.instance_type;
  else
    spec["InstanceRequirements"] = {{"InstanceTypes", to_json(group.types)}};
  if (const int minimum = std::min(group.minimum, count); minimum > 0) spec["MinInstanceCount"] = minimum;
  return spec;
}

void User::create(const std::string& name) {
  json::array groups;
  for (const auto& [group, wish] : wishes_[name].groups) groups.push_back(group_spec(group, wish, true));
  nature_.log("user: create {}: {}", name, json::serialize(groups));
  json::object request{{"ClusterName", name},
                       {"Orchestrator", json::object{{"Slurm", json::object()}}},
                       {"InstanceGroups", std::move(groups)}};
  if (wishes_[name].continuous) request["NodeProvisioningMode"] = "Continuous";
  ask("CreateCluster", request, [this, name](int status, const json::object& body) {
    nature_.log("user: create {}: {} {}", name, status, json::serialize(body));
    if (status == 200 && watches && wishes_[name].continuous) watch_after(text(body, "ClusterArn"), 0);
  });
}

void User::update(const std::string& name, const std::vector<std::string>& dropped) {
  json::array groups;
  std::string shown;
  for (const auto& [group, wish] : wishes_[name].groups) {
    groups.push_back(group_spec(group, wish, false));
    shown += fmt::format(" {}={}", group, wish.count);
  }
  json::object request{{"ClusterName", name}, {"InstanceGroups", std::move(groups)}};
  if (!dropped.empty()) request["InstanceGroupsToDelete"] = to_json(dropped);
  nature_.log("user: update {}:{}{}", name, shown, dropped.empty() ? "" : ", without " + dropped.front());
  ask("UpdateCluster", request, [this, name](int status, const json::object& body) {
    nature_.log("user: update {}: {} {}", name, status, json::serialize(body));
  });
}

void User::remove(const std::string& name) {
  nature_.log("user: delete {}", name);
  ask("DeleteCluster", {{"ClusterName", name}}, [this, name](int status, const json::object& body) {
    nature_.log("user: delete {}: {} {}", name, status, json::serialize(body));
  });
}

void User::watch_after(const std::string& arn, std::int64_t sequence) {
  ask("Espalier.WatchEvents", {{"ClusterName", arn}, {"AfterSequence", sequence}, {"WaitSeconds", 20}},
      [this, arn, sequence](int status, const json::object& body) {
        if (status != 0 && status != 200) return;  // it is gone
        std::int64_t last = sequence;
        if (status == 200)
          for (const auto& event : body.at("Events").as_array())
            if (const auto got = event.as_object().at("Sequence").to_number<std::int64_t>(); got != ++last)
              nature_.violated("event {} of {} is told after {}", got, arn, last - 1);
        nature_.time.after(status == 200 ? Millis(10) : Millis(1'000), [this, arn, last] { watch_after(arn, last); });
      });
}

// ---- in the end ----------------------------------------------------------------------------------------------------

bool User::has_its_will(const std::string& name) const {
  const auto found = has_its_will_.find(name);
  return found != has_its_will_.end() && found->second;
}

void User::insist(const std::string& name) {
  has_its_will_[name] = false;
  ask("DescribeCluster", {{"ClusterName", name}}, [this, name](int status, const json::object& body) {
    compare(name, status, body);
    if (!has_its_will(name)) nature_.time.after(kInsistEvery, [this, name] { insist(name); });
  });
}

void User::compare(const std::string& name, int status, const json::object& body) {
  const WishedCluster& wish = wishes_[name];
  const bool missing = status == 400 || status == 404;
  if (status != 200 && !missing) return;
  if (missing) {
    if (wish.wanted) return create(name);
    has_its_will_[name] = true;
    return;
  }
  if (text(body, "ClusterStatus") == "Deleting") return;
  // What was all or nothing and came to nothing is made anew.
  if (!wish.wanted || text(body, "ClusterStatus") == "Failed") return remove(name);
  json::array to_put;
  json::array to_delete;
  std::map<std::string, std::int64_t> there;
  bool going = false;
  for (const auto& group : body.at("InstanceGroups").as_array()) {
    const auto& it = group.as_object();
    const std::string group_name = text(it, "InstanceGroupName");
    const bool deleting = text(it, "Status") == "Deleting";
    const auto wished = wish.groups.find(group_name);
    const bool other = wished == wish.groups.end() || types_of(wished->second) != types_of(it);
    there[group_name] = deleting || other ? kGoing : it.at("TargetCount").to_number<std::int64_t>();
    if (other && !deleting) to_delete.push_back(json::string(group_name));
  }
  for (const auto& [group, wished] : wish.groups) {
    const auto found = there.find(group);
    going = going || (found != there.end() && found->second == kGoing);  // and is wanted again: when it is gone
    if (found == there.end() || (found->second != wished.count && found->second != kGoing))
      to_put.push_back(group_spec(group, wished, found == there.end()));
  }
  if (to_put.empty() && to_delete.empty()) {
    if (going) return;
    has_its_will_[name] = true;
    return;
  }
  json::object request{{"ClusterName", name}};
  if (!to_put.empty()) request["InstanceGroups"] = std::move(to_put);
  if (!to_delete.empty()) request["InstanceGroupsToDelete"] = std::move(to_delete);
  nature_.log("user: insists: {}", json::serialize(request));
  ask("UpdateCluster", request, [this, name](int answer, const json::object& said) {
    nature_.log("user: insisted on {}: {} {}", name, answer, json::serialize(said));
  });
}

void User::watch(const std::string& name) { watch_after(name, 0); }

}  // namespace espalier::sim
