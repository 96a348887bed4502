#include "reconcile/events.h"

#include "reconcile/group/group.h"

namespace espalier::reconcile {

namespace {

void add_failure(json::object& metadata, std::string_view failure) {
  if (!failure.empty()) metadata["FailureMessage"] = failure;
}

}  // namespace

Event& record(Cluster& cluster, std::vector<Event>& events, const Context& context, ResourceType resource,
              EventLevel level, std::string description) {
  Event event;
  event.sequence = ++cluster.last_event;
  event.id = context.random->uuid();
  event.time = context.now;
  event.resource = resource;
  event.level = level;
  event.description = std::move(description);
  events.push_back(std::move(event));
  return events.back();
}

void cluster_event(Work& work, EventLevel level, std::string description, std::string_view failure) {
  Event& event = record(work.touch_cluster(), work.out.changes.events, work.context, ResourceType::Cluster, level,
                        std::move(description));
  json::object metadata;
  add_failure(metadata, failure);
  event.metadata["Cluster"] = std::move(metadata);
}

void scaling_event(Work& work, const Group& group, EventLevel level, std::string description,
                   std::string_view failure) {
  Event& event = record(work.touch_cluster(), work.out.changes.events, work.context, ResourceType::InstanceGroup, level,
                        std::move(description));
  event.group = group.name;
  json::object metadata{{"InstanceCount", work.index().group(group.name).all_up()},
                        {"TargetCount", group.target_count},
                        {"MinCount", group.min_count}};
  add_failure(metadata, failure);
  event.metadata["InstanceGroupScaling"] = std::move(metadata);
}

void instance_event(Work& work, const Slot& slot, EventLevel level, std::string description, std::string_view failure) {
  Event& event = record(work.touch_cluster(), work.out.changes.events, work.context, ResourceType::Instance, level,
                        std::move(description));
  event.group = slot.group;
  event.slot = slot.id;
  if (slot.machine) event.instance = slot.machine->id;
  json::object metadata{{"NodeLogicalId", slot.id.value}};
  add_failure(metadata, failure);
  event.metadata["Instance"] = std::move(metadata);
}

}  // namespace espalier::reconcile
