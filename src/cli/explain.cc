#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

std::string next_of(const wire::NodeExplanation& why, Time now) {
  if (why.NextAt <= 0) return why.Next;
  const Millis wait = std::max(Millis(0), from_epoch(why.NextAt) - now);
  return fmt::format("{}, in {}", why.Next, show_duration(wait));
}

std::string health_of(const wire::NodeHealth& health) {
  std::vector<std::string> facts;
  if (health.Gpus > 0) facts.push_back(fmt::format("{} GPUs", health.Gpus));
  if (health.NeuronDevices > 0) facts.push_back(fmt::format("{} Neuron devices", health.NeuronDevices));
  for (const auto& one : health.Daemons)
    facts.push_back(one.Running ? one.Name + " runs" : fmt::format("{} is down ({})", one.Name, one.Message));
  for (const auto& disk : health.Disks)
    facts.push_back(fmt::format("{} {:.0f}% free", disk.Path, 100 * disk.FreeBytes / std::max(1.0, disk.TotalBytes)));
  if (health.ClockAheadMillis != 0) facts.push_back(fmt::format("clock {:+.1f} s", health.ClockAheadMillis / 1000));
  return fmt::format("{}", fmt::join(facts, ", "));
}

void print_explanation(Context& context, const wire::NodeExplanation& why) {
  const Time now = context.clock.now();
  const wire::Node& node = why.Node;
  print(context, fmt::format("{} ({}, {}) is {} for {}", node.NodeName, node.InstanceGroupName, node.InstanceType,
                             node.State, show_age(node.Since, now)));
  print(context, "because: " + why.Because);
  print(context, "next:    " + next_of(why, now));
  if (!node.Message.empty()) print(context, fmt::format("failed:  {} (failed tries: {})", node.Message, node.Attempts));
  if (!node.InstanceId.empty())
    print(context, fmt::format("machine: {} at {}{}{}", node.InstanceId, node.Address,
                               node.Leaf.empty() ? "" : ", leaf " + node.Leaf,
                               node.SlurmState.empty() ? "" : ", slurmctld shows it " + node.SlurmState));
  if (why.Health) print(context, "health:  " + health_of(*why.Health));
  for (const auto& place : why.Places) print(context, "in Slurm: " + place);
  if (!why.Conditions.empty()) {
    Table facts({"CONDITION", "HOLDS", "SINCE", "REASON"});
    for (const auto& one : why.Conditions)
      facts.add({one.Type, one.Holds ? "yes" : "no", show_age(one.Since, now), one.Reason});
    print(context, "");
    print(context, facts);
  }
  if (why.History.empty()) return;
  Table history({"AGO", "LEVEL", "EVENT"});
  for (const auto& event : why.History)
    history.add({show_age(event.EventTime, now), event.EventLevel,
                 event.FailureMessage.empty() ? event.Description : event.Description + ": " + event.FailureMessage});
  print(context, "");
  print(context, history);
}

}  // namespace

Result<void> explain_node(Context& context, const std::string& cluster, const std::string& node) {
  const auto answer =
      context.service.call("Espalier.ExplainNode", {{"ClusterName", cluster}, {member_for(node), node}});
  return show_answer<wire::NodeExplanation>(
      context, answer, [&context](const wire::NodeExplanation& why) { print_explanation(context, why); });
}

}  // namespace espalier::cli
