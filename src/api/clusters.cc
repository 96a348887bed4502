// CreateCluster, UpdateCluster, DeleteCluster, DescribeCluster, ListClusters.
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
  return read_cluster(services, call, [](const engine::View& view) { return cluster_details(view.state); });
}

bool is_listed(const Cluster& cluster, const json::object& input) {
  const auto after = time(input, "CreationTimeAfter");
  const auto before = time(input, "CreationTimeBefore");
  // Training plans are not served, so no cluster has one.
  return cluster.name.find(text(input, "NameContains")) != std::string::npos && !member(input, "TrainingPlanArn") &&
         (!after || cluster.created_at > *after) && (!before || cluster.created_at < *before);
}

Result<json::object> list_clusters(const Services& services, const Call& call) {
  const auto& input = call.input;
  const bool by_name = text(input, "SortBy") == "NAME";
  std::vector<Keyed<json::object>> all;
  for (const auto& id : services.clusters.list(call.caller.account, call.caller.region)) {
    const auto row = cluster_row(services, id);
    if (!row || !is_listed(*row, input)) continue;  // gone since: not in the list
    if (!call.caller.may_see(row->name)) continue;
    all.emplace_back((by_name ? row->name : sortable(row->created_at)) + " " + id.value, cluster_summary(*row));
  }
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
