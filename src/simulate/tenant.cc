#include "simulate/tenant.h"

#include <utility>

namespace espalier::simulate {

namespace {

constexpr Millis kAgain{60'000};  // after a conflict, or no answer
constexpr const char* kRole = "arn:aws:iam::000000000000:role/simulated";

json::object group(const std::string& name, const std::string& type, int count, json::object slurm) {
  return {{"InstanceGroupName", name},
          {"InstanceType", type},
          {"InstanceCount", count},
          {"ExecutionRole", kRole},
          {"SlurmConfig", std::move(slurm)}};
}

// No wait cures it.
bool is_final(int status, const json::object& body) {
  const auto* type = body.if_contains("__type");
  if (status != 400 || type == nullptr || !type->is_string()) return false;
  return type->get_string() == "ValidationException" || type->get_string() == "ResourceLimitExceeded";
}

}  // namespace

Tenant::Tenant(const Scenario& scenario, bool continuous, sim::Simulation& world)
    : scenario_(scenario), continuous_(continuous), world_(world) {
  for (const GroupWish& wish : scenario.groups) wishes_[wish.name] = wish.count;
}

bool Tenant::may_submit() const {
  const ClusterState* state = world_.cluster(kCluster);
  if (state == nullptr || (state->cluster.change && state->cluster.change->creation)) return false;
  using enum ClusterStatus;
  const ClusterStatus status = state->cluster.status;
  return status != Creating && status != Failed && status != Deleting;
}

void Tenant::act() {
  if (asking_ || now() < not_before_) return;
  const ClusterState* state = world_.cluster(kCluster);
  if (state == nullptr) return create();
  if (state->cluster.status == ClusterStatus::Failed) return remove_after_failure();
  if (state->cluster.status != ClusterStatus::InService || !differs(*state)) return;
  if (!std::exchange(updated_, false)) return update();
  not_before_ = now() + scenario_.tries_again_after;  // it has gone back
}

void Tenant::create() {
  failure_seen_ = updated_ = false;
  json::object body{{"ClusterName", kCluster},
                    {"Orchestrator", json::object{{"Slurm", json::object()}}},
                    {"InstanceGroups", groups()}};
  if (continuous_) body["NodeProvisioningMode"] = "Continuous";
  ask("CreateCluster", std::move(body), [this] { ++creations_; });
}

void Tenant::update() {
  ask("UpdateCluster", {{"ClusterName", kCluster}, {"InstanceGroups", groups()}}, [this] { updated_ = !continuous_; });
}

void Tenant::remove_after_failure() {
  if (!std::exchange(failure_seen_, true)) {
    ++failed_creations_;
    not_before_ = now() + scenario_.tries_again_after;
    return;
  }
  ask("DeleteCluster", {{"ClusterName", kCluster}}, [] {});
}

void Tenant::ask(const std::string& operation, json::object body, std::function<void()> done) {
  asking_ = true;
  world_.user().ask(operation, body, [this, operation, done = std::move(done)](int status, const json::object& said) {
    asking_ = false;
    if (status == 200) return done();
    not_before_ = now() + kAgain;
    if (is_final(status, said))
      refusal_ = fmt::format("{} is refused: {}", operation, json::serialize(said.at("Message")));
  });
}

bool Tenant::differs(const ClusterState& state) const {
  for (const auto& [name, count] : wishes_)
    if (const auto found = state.groups.find(name); found == state.groups.end() || found->second.target_count != count)
      return true;
  return false;
}

json::array Tenant::groups() const {
  json::array out{group(kControllerGroup, scenario_.controller, 1, {{"NodeType", "Controller"}})};
  for (const GroupWish& wish : scenario_.groups)
    out.push_back(group(wish.name, wish.type, wishes_.at(wish.name),
                        {{"NodeType", "Compute"}, {"PartitionNames", json::array{json::string(wish.partition)}}}));
  return out;
}

}  // namespace espalier::simulate
