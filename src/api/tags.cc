// AddTags, ListTags, DeleteTags: of clusters, which are named by their ARN here.
#include "reconcile/cluster/tags.h"

#include "api/lookup.h"
#include "api/pages.h"
#include "api/read.h"

namespace espalier::api {
namespace {

constexpr int kTagPageDefault = 50;

Result<ClusterId> tagged_cluster(const Services& services, const Call& call) {
  return services.clusters.find(call.caller.account, call.caller.region, text(call.input, "ResourceArn"));
}

// Answers all tags of the cluster as this change leaves them.
void add_tags(const Services& services, const Call& call, const Done& done) {
  const auto id = tagged_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  const auto row = cluster_row(services, *id);
  if (!row) return done(tl::unexpected(row.error()));
  reconcile::ClusterChange change;
  change.tags = reconcile::tags_of(call.input);
  const auto all = reconcile::changed_tags(row->spec, change);
  if (!all) return done(tl::unexpected(all.error()));
  services.clusters.update(*id, change, answer_when_done({{"Tags", reconcile::to_wire(*all)}}, done));
}

void delete_tags(const Services& services, const Call& call, const Done& done) {
  const auto id = tagged_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  reconcile::ClusterChange change;
  for (const auto& key : member(call.input, "TagKeys")->get_array())
    change.tags_to_delete.emplace_back(std::string_view(key.get_string()));
  services.clusters.update(*id, change, answer_when_done({}, done));
}

Result<json::object> list_tags(const Services& services, const Call& call) {
  const auto id = tagged_cluster(services, call);
  if (!id) return tl::unexpected(id.error());
  const auto row = cluster_row(services, *id);
  if (!row) return tl::unexpected(row.error());
  std::vector<Keyed<json::value>> all;
  for (const auto& tag : reconcile::to_wire(reconcile::tags_of(row->spec)))
    all.emplace_back(text(tag.get_object(), "Key"), tag);
  auto page =
      cut_page(std::move(all), page_scope("ListTags", call.caller.region, call.input), text(call.input, "NextToken"),
               false, static_cast<std::size_t>(number(call.input, "MaxResults", kTagPageDefault)));
  if (!page) return tl::unexpected(page.error());
  json::object out{{"Tags", json::array(page->items.begin(), page->items.end())}};
  if (!page->next.empty()) out["NextToken"] = page->next;
  return out;
}

}  // namespace

std::vector<Operation> tag_operations() {
  return {
      {"SageMaker.AddTags", add_tags}, {"SageMaker.DeleteTags", delete_tags}, at_once("SageMaker.ListTags", list_tags)};
}

}  // namespace espalier::api
