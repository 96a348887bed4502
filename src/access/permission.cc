#include "access/permission.h"

#include <algorithm>
#include <array>

namespace espalier::access {

namespace {

using namespace std::string_view_literals;

constexpr std::array kManaging = {"SageMaker.CreateCluster"sv, "SageMaker.DeleteCluster"sv};
constexpr std::array kGoverning = {"Espalier.ListAccessKeys"sv, "Espalier.ListAuditRecords"sv,
                                   "Espalier.UpdateCapacity"sv};
constexpr std::array kOperating = {"Espalier.SetTopology"sv};
constexpr std::array kChanging = {"Add"sv, "Delete"sv, "Update"sv, "Batch"sv, "Start"sv, "Attach"sv, "Detach"sv};
constexpr std::array kReading = {"Describe"sv, "List"sv, "Watch"sv, "Explain"sv};

bool begins_with_one_of(std::string_view verb, const auto& words) {
  return std::ranges::any_of(words, [verb](auto word) { return verb.starts_with(word); });
}

Role role_for(Effect effect) {
  if (effect == Effect::kRead) return Role::ReadOnly;
  return effect == Effect::kChange ? Role::Operator : Role::Admin;
}

}  // namespace

Effect effect_of(std::string_view target) {
  if (std::ranges::find(kManaging, target) != kManaging.end()) return Effect::kManage;
  if (std::ranges::find(kGoverning, target) != kGoverning.end()) return Effect::kGovern;
  if (std::ranges::find(kOperating, target) != kOperating.end()) return Effect::kChange;
  const auto verb = target.substr(std::min(target.find('.') + 1, target.size()));
  if (begins_with_one_of(verb, kReading)) return Effect::kRead;
  // Our own operations that change something are listed one by one, above or nowhere.
  if (target.starts_with("SageMaker.") && begins_with_one_of(verb, kChanging)) return Effect::kChange;
  return Effect::kGovern;
}

bool may_see(const AccessKey& key, std::string_view cluster) {
  return key.clusters.empty() || std::ranges::find(key.clusters, cluster) != key.clusters.end();
}

Checked<void> allowed(const AccessKey& key, const Act& act) {
  const Effect effect = effect_of(act.target);
  const Role least = role_for(effect);
  if (key.role < least)
    return refuse(RefusalKind::kDenied,
                  "Access key {} ({}) is not authorized to perform {}: its role is {}, {} is needed.", key.id, key.name,
                  act.target, enum_name(key.role), enum_name(least));
  if (act.names_cluster && !may_see(key, act.cluster))
    return refuse(RefusalKind::kDenied,
                  "Access key {} ({}) is not authorized to perform {} on this cluster: it is for {} only.", key.id,
                  key.name, act.target, fmt::join(key.clusters, ", "));
  const bool whole_service = effect == Effect::kGovern || (effect != Effect::kRead && !act.names_cluster);
  if (whole_service && !key.clusters.empty())
    return refuse(RefusalKind::kDenied,
                  "Access key {} ({}) is not authorized to perform {}: it is for some clusters only, and this concerns "
                  "all.",
                  key.id, key.name, act.target);
  return {};
}

}  // namespace espalier::access
