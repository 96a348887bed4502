#include "user.h"

#include <array>

#include "api/shapes.h"
#include "api/validate.h"

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
  for (int i = 0; i < groups; ++i)
    wish.groups[fmt::format("g{}", i)] = {"Compute", kTypes.at(nature_.time.random().below(kTypes.size())),
                                          nature_.time.between(1, kMostNodes)};
  return wish;
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
  scale_something(wish);
  update(name);
}

void User::scale_something(WishedCluster& wish) {
  const int changes = nature_.time.between(1, 2);
  for (int i = 0; i < changes; ++i) {
    const std::string name = fmt::format("g{}", nature_.time.between(0, kMostGroups - 1));
    const auto found = wish.groups.find(name);
    if (found == wish.groups.end())
      wish.groups[name] = {"Compute", kTypes.at(nature_.time.random().below(kTypes.size())),
                           nature_.time.between(1, kMostNodes)};
    else if (nature_.time.chance(0.15))
      wish.groups.erase(found);
    else
      found->second.count = nature_.time.between(0, kMostNodes);
  }
}

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
  return {{"InstanceGroupName", name},
          {"InstanceType", group.instance_type},
          {"InstanceCount", count},
          {"ExecutionRole", kRole},
          {"LifeCycleConfig", json::object{{"SourceS3Uri", "s3://sagemaker-sim/"}, {"OnCreate", "on_create.sh"}}},
          {"SlurmConfig", std::move(slurm)}};
}

void User::create(const std::string& name) {
  json::array groups;
  for (const auto& [group, wish] : wishes_[name].groups) groups.push_back(group_spec(group, wish, true));
  nature_.log("user: create {}: {}", name, json::serialize(groups));
  ask("CreateCluster",
      {{"ClusterName", name},
       {"NodeProvisioningMode", "Continuous"},
       {"Orchestrator", json::object{{"Slurm", json::object()}}},
       {"InstanceGroups", std::move(groups)}},
      [this, name](int status, const json::object& body) {
        nature_.log("user: create {}: {} {}", name, status, json::serialize(body));
        if (status == 200 && watches) watch_after(text(body, "ClusterArn"), 0);
      });
}

void User::update(const std::string& name) {
  json::array groups;
  std::string shown;
  for (const auto& [group, wish] : wishes_[name].groups) {
    groups.push_back(group_spec(group, wish, false));
    shown += fmt::format(" {}={}", group, wish.count);
  }
  nature_.log("user: update {}:{}", name, shown);
  ask("UpdateCluster", {{"ClusterName", name}, {"InstanceGroups", std::move(groups)}},
      [this, name](int status, const json::object& body) {
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
  if (!wish.wanted) return remove(name);
  json::array to_put;
  json::array to_delete;
  std::map<std::string, std::int64_t> there;
  bool going = false;
  for (const auto& group : body.at("InstanceGroups").as_array()) {
    const auto& it = group.as_object();
    const std::string group_name = text(it, "InstanceGroupName");
    const bool deleting = text(it, "Status") == "Deleting";
    const auto wished = wish.groups.find(group_name);
    const bool other = wished == wish.groups.end() || wished->second.instance_type != text(it, "InstanceType");
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
