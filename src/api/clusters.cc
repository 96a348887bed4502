// CreateCluster, UpdateCluster, DeleteCluster, DescribeCluster, ListClusters.
#include <set>

#include "api/lookup.h"
#include "api/pages.h"
#include "api/read.h"
#include "api/show.h"
#include "api/wishes.h"

namespace espalier::api {
namespace {

Result<json::object> arn_answer(const Services& services, const ClusterId& id) {
  const auto row = cluster_row(services, id);
  if (!row) return tl::unexpected(row.error());
  return json::object{{"ClusterArn", arn_of(*row)}};
}

void create_cluster(const Services& services, const Call& call, const Done& done) {
  services.clusters.create(cluster_wish(call.caller, call.input),
                           [caller = call.caller, done](const Result<ClusterId>& id) {
                             if (!id) return done(tl::unexpected(id.error()));
                             Cluster made;
                             made.id = *id;
                             made.region = caller.region;
                             made.account = caller.account;
                             done(json::object{{"ClusterArn", arn_of(made)}});
                           });
}

void update_cluster(const Services& services, const Call& call, const Done& done) {
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  auto answer = arn_answer(services, *id);
  if (!answer) return done(std::move(answer));
  services.clusters.update(*id, cluster_change(call.input), answer_when_done(std::move(*answer), done));
}

void delete_cluster(const Services& services, const Call& call, const Done& done) {
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  auto answer = arn_answer(services, *id);
  if (!answer) return done(std::move(answer));
  services.clusters.remove(*id, answer_when_done(std::move(*answer), done));
}

Result<json::object> describe_cluster(const Services& services, const Call& call) {
  const auto newest = newest_image(services);
  return read_cluster(services, call,
                      [&](const engine::View& view) { return cluster_details(view.state, view.index, newest); });
}

std::set<std::string> training_plans(const ClusterState& state) {
  std::set<std::string> plans;
  for (const auto& [name, group] : state.groups)
    if (member(group.spec, "TrainingPlanArn")) plans.insert(text(group.spec, "TrainingPlanArn"));
  return plans;
}

bool is_listed(const Cluster& cluster, const std::set<std::string>& plans, const json::object& input) {
  const auto after = time(input, "CreationTimeAfter");
  const auto before = time(input, "CreationTimeBefore");
  return cluster.name.find(text(input, "NameContains")) != std::string::npos &&
         (!member(input, "TrainingPlanArn") || plans.contains(text(input, "TrainingPlanArn"))) &&
         (!after || cluster.created_at > *after) && (!before || cluster.created_at < *before);
}

Result<json::object> list_clusters(const Services& services, const Call& call) {
  const auto& input = call.input;
  const bool by_name = text(input, "SortBy") == "NAME";
  const auto newest = newest_image(services);
  std::vector<Keyed<json::object>> all;
  const auto list = [&](const engine::View& view) {
    const auto& cluster = view.state.cluster;
    const auto plans = training_plans(view.state);
    if (!is_listed(cluster, plans, input) || !call.caller.may_see(cluster.name)) return;
    auto summary = cluster_summary(cluster);
    if (!plans.empty()) summary["TrainingPlanArns"] = json::array(plans.begin(), plans.end());
    if (const auto status = image_version_status(view.index, newest); !status.empty())
      summary["ImageVersionStatus"] = status;
    all.emplace_back((by_name ? cluster.name : sortable(cluster.created_at)) + " " + cluster.id.value,
                     std::move(summary));
  };
  for (const auto& id : services.clusters.list(call.caller.account, call.caller.region))
    (void)services.clusters.read(id, list);  // gone since: not in the list
  auto page = cut_page(std::move(all), page_scope("ListClusters", call.caller.region, input), text(input, "NextToken"),
                       text(input, "SortOrder") == "Descending",
                       static_cast<std::size_t>(number(input, "MaxResults", kPageDefault)));
  if (!page) return tl::unexpected(page.error());
  json::object out{{"ClusterSummaries", json::array(page->items.begin(), page->items.end())}};
  if (!page->next.empty()) out["NextToken"] = page->next;
  return out;
}

}  // namespace

std::vector<Operation> cluster_operations() {
  return {{"SageMaker.CreateCluster", create_cluster},
          {"SageMaker.UpdateCluster", update_cluster},
          {"SageMaker.DeleteCluster", delete_cluster},
          at_once("SageMaker.DescribeCluster", describe_cluster),
          at_once("SageMaker.ListClusters", list_clusters)};
}

}  // namespace espalier::api
