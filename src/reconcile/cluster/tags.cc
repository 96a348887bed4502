#include "reconcile/cluster/tags.h"

namespace espalier::reconcile {

Tags tags_of(const json::object& spec) {
  Tags tags;
  const auto* list = spec.if_contains("Tags");
  if (!list || !list->is_array()) return tags;
  for (const auto& tag : list->get_array())
    tags[std::string(std::string_view(tag.at("Key").as_string()))] = std::string_view(tag.at("Value").as_string());
  return tags;
}

json::array to_wire(const Tags& tags) {
  json::array list;
  for (const auto& [key, value] : tags) list.push_back({{"Key", key}, {"Value", value}});
  return list;
}

Result<Tags> changed_tags(const json::object& spec, const ClusterChange& change) {
  Tags tags = tags_of(spec);
  for (const auto& key : change.tags_to_delete) tags.erase(key);
  for (const auto& [key, value] : change.tags) tags.insert_or_assign(key, value);
  if (tags.size() > kMostTags && !change.tags.empty())
    return fail(ErrorCode::kLimit, "the cluster would have {} tags, the limit is {}: delete some first", tags.size(),
                kMostTags);
  return tags;
}

}  // namespace espalier::reconcile
