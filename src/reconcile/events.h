// The texts of events, by HyperPod's reference: clients match on them. Each function records one event.
#pragma once

#include <string_view>

#include "reconcile/work.h"

namespace espalier::reconcile {

// Appends to `events` and counts; the one place where events are made.
Event& record(Cluster& cluster, std::vector<Event>& events, const Context& context, ResourceType resource,
              EventLevel level, std::string description);

void cluster_event(Work& work, EventLevel level, std::string description, std::string_view failure = "");
// With the counts of the group as they are.
void scaling_event(Work& work, const Group& group, EventLevel level, std::string description,
                   std::string_view failure = "");
void instance_event(Work& work, const Slot& slot, EventLevel level, std::string description,
                    std::string_view failure = "");

}  // namespace espalier::reconcile
