#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/duration.h"
#include "cli/table.h"

namespace espalier::cli {

namespace {

std::string trouble_of(const wire::Node& node, Time now) {
  if (node.Message.empty()) return "";
  if (node.NextTry <= 0) return node.Message;
  const auto wait = std::max(Millis(0), from_epoch(node.NextTry) - now);
  return fmt::format("{} (try {} in {})", node.Message, node.Attempts + 1, show_duration(wait));
}

// One that is being deleted has reached its goal when it has no machines.
int target_of(const wire::Group& group) { return group.Status == "Deleting" ? 0 : group.TargetCount; }

void count(GroupProgress& group, const wire::Node& node, Time now) {
  if (node.State == "Ready") {
    ++group.ready;
    return;
  }
  ++group.others[node.State];
  if (group.trouble.empty()) group.trouble = trouble_of(node, now);
}

std::string others_of(const GroupProgress& group) {
  std::string out;
  for (const auto& [state, nodes] : group.others) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", nodes, state);
  return out;
}

std::string bar(int ready, int target) {
  constexpr int kLongest = 24;
  const int length = std::clamp(target, 1, kLongest);
  const int full = target > 0 ? std::min(length, ready * length / target) : length;
  std::string out;
  for (int i = 0; i < length; ++i) out += i < full ? "█" : "░";
  return out;
}

Colour colour_of(const GroupProgress& group) {
  if (!group.trouble.empty()) return Colour::kRed;
  return group.ready == group.target && group.others.empty() ? Colour::kGreen : Colour::kYellow;
}

Table table_of(const Progress& progress) {
  Table table({"GROUP", "READY", "PROGRESS", "TYPE", "OTHERS", "WHY"});
  for (const auto& group : progress.groups) {
    const Colour colour = colour_of(group);
    table.add({group.name,
               {fmt::format("{}/{}", group.ready, group.target), colour},
               {bar(group.ready, group.target), colour},
               group.type,
               others_of(group),
               group.trouble});
  }
  return table;
}

std::string headline(const Progress& progress, Millis elapsed, const Terminal& terminal) {
  const auto plain = fmt::format("{}  {}  {}", progress.cluster, progress.status, show_duration(elapsed));
  if (terminal.width > 0 && display_width(plain) > terminal.width) return cut(plain, terminal.width);
  return fmt::format("{}  {}  {}", paint(progress.cluster, Colour::kBold, terminal),
                     paint(progress.status, state_colour(progress.status), terminal), show_duration(elapsed));
}

const GroupProgress* find(const Progress& progress, const std::string& name) {
  const auto found = std::find_if(progress.groups.begin(), progress.groups.end(),
                                  [&name](const auto& group) { return group.name == name; });
  return found == progress.groups.end() ? nullptr : &*found;
}

}  // namespace

Progress read_progress(const wire::Cluster& cluster, const std::vector<wire::Node>& nodes, Time now) {
  Progress out{cluster.ClusterName, cluster.ClusterStatus, cluster.FailureMessage, {}};
  for (const auto& group : cluster.InstanceGroups) {
    GroupProgress progress{group.InstanceGroupName, group.InstanceType, 0, target_of(group), {}, ""};
    for (const auto& node : nodes)
      if (node.InstanceGroupName == group.InstanceGroupName) count(progress, node, now);
    out.groups.push_back(std::move(progress));
  }
  return out;
}

bool is_grown(const Progress& progress) {
  return progress.status == "InService" &&
         std::all_of(progress.groups.begin(), progress.groups.end(),
                     [](const auto& group) { return group.ready == group.target && group.others.empty(); });
}

std::string summary(const GroupProgress& group) {
  const auto others = others_of(group);
  return fmt::format("{}/{} ready{}{}", group.ready, group.target, others.empty() ? "" : ", ", others);
}

std::vector<std::string> draw(const Progress& progress, Millis elapsed, const std::string& last_event,
                              const Terminal& terminal) {
  std::vector<std::string> out;
  out.push_back(headline(progress, elapsed, terminal));
  for (auto& line : table_of(progress).lines(terminal)) out.push_back(std::move(line));
  if (!progress.failure.empty())
    out.push_back(paint(cut(one_line(progress.failure), terminal.width), Colour::kRed, terminal));
  if (!last_event.empty()) out.push_back(paint(cut(last_event, terminal.width), Colour::kDim, terminal));
  return out;
}

std::vector<std::string> changes(const Progress& before, const Progress& after) {
  std::vector<std::string> out;
  if (before.status != after.status) out.push_back(fmt::format("{} is {}", after.cluster, after.status));
  for (const auto& group : after.groups) {
    const auto* old = find(before, group.name);
    if (old != nullptr && summary(*old) == summary(group)) continue;
    out.push_back(
        fmt::format("{}: {}{}{}", group.name, summary(group), group.trouble.empty() ? "" : ": ", group.trouble));
  }
  for (const auto& group : before.groups)
    if (find(after, group.name) == nullptr) out.push_back(fmt::format("{}: gone", group.name));
  return out;
}

}  // namespace espalier::cli
