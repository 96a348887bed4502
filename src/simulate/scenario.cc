#include "simulate/scenario.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "model/instance_type.h"
#include "provider/sim/yaml.h"
#include "simulate/members.h"

namespace espalier::simulate {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kMostInGroup = 6'758;  // the API's own bound
constexpr int kMostGroups = 32;
constexpr Millis kLongest = hours(24 * 31);
constexpr Millis kYear = hours(24 * 365);
constexpr Millis kLongestBoot = hours(2);

// What a scenario may say of chance, and what of the simulated world it is.
constexpr std::pair<const char*, sim::Fault> kChances[] = {
    {"throttled", sim::Fault::Throttled},
    {"never_boots", sim::Fault::NeverBoots},
    {"setup_fails", sim::Fault::SetupFails},
    {"never_registers", sim::Fault::NeverRegisters},
};

template <typename T>
void sort_by_time(std::vector<T>& list) {
  std::ranges::stable_sort(list, {}, &T::at);
}

class ScenarioReader {
 public:
  explicit ScenarioReader(Reading& reading) : reading_(reading) {}

  Scenario read(const YAML::Node& file) {
    Members members(reading_, file, "",
                    {"name", "duration", "seed", "controller", "groups", "changes", "capacity", "fabric", "machines",
                     "failures", "chances", "jobs", "all_or_nothing"});
    members.require({"duration", "groups"});
    members.text("name", out_.name);
    members.duration("duration", out_.duration, minutes(1), kLongest);
    members.number("seed", out_.seed);
    members.type("controller", out_.controller);
    for_each_member(reading_, members.at("groups"), "groups",
                    [this](const auto& name, const auto& node, const auto& path) { group(name, node, path); });
    check_groups(file.Mark());
    for_each_of(reading_, members.at("changes"), "changes",
                [this](const auto& node, const auto& path) { change(node, path); });
    for_each_member(reading_, members.at("capacity"), "capacity",
                    [this](const auto& type, const auto& node, const auto& path) { pool(type, node, path); });
    machines(members.at("machines"));
    fabric(members.at("fabric"));
    for_each_of(reading_, members.at("failures"), "failures",
                [this](const auto& node, const auto& path) { failure(node, path); });
    chances(members.at("chances"));
    for_each_of(reading_, members.at("jobs"), "jobs", [this](const auto& node, const auto& path) { jobs(node, path); });
    all_or_nothing(members.at("all_or_nothing"));
    sort_by_time(out_.changes);
    sort_by_time(out_.capacity);
    return std::move(out_);
  }

 private:
  void group(const std::string& name, const YAML::Node& node, const std::string& path) {
    GroupWish wish{name, "", name, 0};
    Members members(reading_, node, path, {"type", "count", "partition"});
    members.require({"type", "count"});
    members.type("type", wish.type);
    members.number("count", wish.count, 1, kMostInGroup);
    members.text("partition", wish.partition);
    if (name == kControllerGroup)
      reading_.wrong(node.Mark(), "'{}' is the controller's own group: see the member 'controller'", path);
    if (find_group(name) != nullptr) reading_.wrong(node.Mark(), "'{}' is there twice", path);
    out_.groups.push_back(std::move(wish));
  }

  void check_groups(const YAML::Mark& mark) {
    int nodes = 0;
    for (const GroupWish& group : out_.groups) nodes += group.count;
    if (out_.groups.empty()) reading_.wrong(mark, "'groups' needs at least one group");
    if (std::ssize(out_.groups) > kMostGroups)
      reading_.wrong(mark, "'groups' has {} groups: {} at most", out_.groups.size(), kMostGroups);
    if (nodes > kMostNodes) reading_.wrong(mark, "'groups' has {} nodes in all: {} at most", nodes, kMostNodes);
  }

  void change(const YAML::Node& node, const std::string& path) {
    Resize change;
    Members members(reading_, node, path, {"at", "group", "count"});
    members.require({"at", "group", "count"});
    at(members, change.at);
    group_name(members, change.group);
    members.number("count", change.count, 0, kMostInGroup);
    out_.changes.push_back(std::move(change));
  }

  // A number for good, or steps.
  void pool(const std::string& type, const YAML::Node& node, const std::string& path) {
    if (find_instance_type(type) == nullptr)
      return reading_.wrong(node.Mark(), "'{}': there is no instance type '{}'; {}", path, type,
                            instance_type_hint(type));
    if (node.IsSequence())
      return for_each_of(reading_, node, path, [&](const auto& step, const auto& step_path) {
        CapacityStep out{Millis(0), type, {}};
        Members members(reading_, step, step_path, {"at", "machines"});
        members.require({"at", "machines"});
        at(members, out.at);
        count(members.at("machines"), step_path + ".machines", out.machines);
        out_.capacity.push_back(std::move(out));
      });
    CapacityStep out{Millis(0), type, {}};
    count(node, path, out.machines);
    out_.capacity.push_back(std::move(out));
  }

  void count(const YAML::Node& node, const std::string& path, std::optional<int>& out) {
    if (reading_.failed() || (node.IsScalar() && node.Scalar() == "unlimited")) return;
    int machines = -1;
    try {
      machines = node.as<int>();
    } catch (const YAML::Exception&) {
    }
    if (machines < 0 || machines > kMostNodes)
      return reading_.wrong(node.Mark(), "'{}' must be 0 to {}, or unlimited", path, kMostNodes);
    out = machines;
  }

  void machines(const YAML::Node& node) {
    out_.launch = {seconds(1), seconds(3)};
    out_.boot = {minutes(3), minutes(4)};
    out_.setup = {seconds(20), seconds(40)};
    if (!node) return;
    Members members(reading_, node, "machines", {"launch", "boot", "setup"});
    members.range("launch", out_.launch, kLongestBoot);
    members.range("boot", out_.boot, kLongestBoot);
    members.range("setup", out_.setup, kLongestBoot);
  }

  void fabric(const YAML::Node& node) {
    if (!node || reading_.failed()) return;
    auto model = sim::FabricModel::from_map(node);
    if (!model) return reading_.wrong(node.Mark(), "fabric: {}", model.error().message);
    out_.fabric = std::move(*model);
  }

  void failure(const YAML::Node& node, const std::string& path) {
    Failure failure;
    Members members(reading_, node, path, {"at", "every", "node", "group", "machines", "control_plane"});
    members.duration("at", failure.at, Millis(0), out_.duration);
    members.duration("every", failure.every, minutes(1), 100 * kYear);
    members.text("node", failure.node);
    group_name(members, failure.group);
    members.number("machines", failure.machines, 1, kMostNodes);
    members.flag("control_plane", failure.control_plane);
    const int what = !failure.node.empty() + !failure.group.empty() + failure.control_plane;
    if (what != 1) reading_.wrong(node.Mark(), "{} needs one of node, group, control_plane", path);
    if (failure.at.has_value() == failure.every.has_value())
      reading_.wrong(node.Mark(), "{} needs one of at, every", path);
    if (failure.every && failure.group.empty()) reading_.wrong(node.Mark(), "{}: 'every' goes with a group", path);
    if (members.has("machines") && (failure.group.empty() || failure.every))
      reading_.wrong(node.Mark(), "{}: 'machines' goes with 'group' and 'at'", path);
    if (!failure.node.empty() && !has_node(failure.node))
      reading_.wrong(node.Mark(), "'{}.node' is '{}': there are {}", path, failure.node, node_names());
    out_.failures.push_back(std::move(failure));
  }

  void chances(const YAML::Node& node) {
    if (!node || reading_.failed()) return;
    Members members(reading_, node, "chances", {"throttled", "never_boots", "setup_fails", "never_registers"});
    for (const auto& [name, fault] : kChances) {
      double rate = 0;
      members.share(name, rate);
      out_.chances.set(fault, rate);
    }
  }

  void jobs(const YAML::Node& node, const std::string& path) {
    Jobs jobs;
    sim::JobWish& job = jobs.job;
    job.name = path;
    Members members(reading_, node, path, {"name", "partition", "nodes", "runs", "checkpoint", "at", "every", "times"});
    members.require({"nodes", "runs"});
    members.text("name", job.name);
    if (out_.groups.size() == 1) job.partition = out_.groups[0].partition;
    members.text("partition", job.partition);
    members.number("nodes", job.nodes, 1, kMostNodes);
    members.duration("runs", job.runs, seconds(1), kYear);
    members.duration("checkpoint", job.checkpoint, seconds(1), kYear);
    at(members, jobs.at);
    members.duration("every", jobs.every, seconds(1), out_.duration);
    members.number("times", jobs.times, 1, kMostJobs);
    if (!reading_.failed() && std::ranges::find(out_.groups, job.partition, &GroupWish::partition) == out_.groups.end())
      reading_.wrong(node.Mark(), "'{}.partition' is '{}': it must be one of {}", path, job.partition, partitions());
    if (const int most = most_in_partition(job.partition); !reading_.failed() && job.nodes > most)
      reading_.wrong(node.Mark(), "'{}.nodes' is {}, and partition {} has never more than {}", path, job.nodes,
                     job.partition, most);
    if (members.has("every") != members.has("times"))
      reading_.wrong(node.Mark(), "{}: 'every' and 'times' go together", path);
    jobs_ += jobs.times;
    if (jobs_ > kMostJobs) reading_.wrong(node.Mark(), "there are more than {} jobs up to here", kMostJobs);
    out_.jobs.push_back(std::move(jobs));
  }

  void all_or_nothing(const YAML::Node& node) {
    out_.gives_up_after = minutes(20);
    out_.tries_again_after = minutes(5);
    if (!node) return;
    Members members(reading_, node, "all_or_nothing", {"gives_up_after", "tries_again_after"});
    members.duration("gives_up_after", out_.gives_up_after, minutes(1), kYear);
    members.duration("tries_again_after", out_.tries_again_after, Millis(0), kYear);
  }

  void at(Members& members, Millis& out) { members.duration("at", out, Millis(0), out_.duration); }

  void group_name(Members& members, std::string& out) {
    members.text("group", out);
    if (out.empty() || reading_.failed() || find_group(out) != nullptr) return;
    std::string names;
    for (const GroupWish& group : out_.groups) names += (names.empty() ? "" : ", ") + group.name;
    reading_.wrong(members.at("group").Mark(), "'{}' is '{}': it must be one of {}", members.path("group"), out, names);
  }
  [[nodiscard]] const GroupWish* find_group(const std::string& name) const {
    const auto found = std::ranges::find(out_.groups, name, &GroupWish::name);
    return found == out_.groups.end() ? nullptr : &*found;
  }
  // At any time.
  [[nodiscard]] int most_in_group(const GroupWish& group) const {
    int most = group.count;
    for (const Resize& change : out_.changes)
      if (change.group == group.name) most = std::max(most, change.count);
    return most;
  }
  [[nodiscard]] int most_in_partition(const std::string& name) const {
    int most = 0;
    for (const GroupWish& group : out_.groups)
      if (group.partition == name) most += most_in_group(group);
    return most;
  }
  [[nodiscard]] bool has_node(const std::string& name) const {
    const auto dash = name.rfind('-');
    if (dash == std::string::npos) return false;
    const std::string group = name.substr(0, dash), number = name.substr(dash + 1);
    const GroupWish* wish = find_group(group);
    const int most = wish != nullptr ? most_in_group(*wish) : group == kControllerGroup ? 1 : 0;
    int n = 0;
    std::from_chars(number.data(), number.data() + number.size(), n);
    return n >= 1 && n <= most && number == std::to_string(n);
  }
  [[nodiscard]] std::string node_names() const {
    std::string out = fmt::format("{}-1", kControllerGroup);
    for (const GroupWish& group : out_.groups)
      out += fmt::format(", {0}-1 to {0}-{1}", group.name, most_in_group(group));
    return out;
  }
  [[nodiscard]] std::string partitions() const {
    std::set<std::string> names;
    for (const GroupWish& group : out_.groups) names.insert(group.partition);
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
  }

  Reading& reading_;
  Scenario out_;
  int jobs_ = 0;
};

}  // namespace

Result<Scenario> read_scenario(const std::string& text) {
  const auto file = sim::parse_yaml_map(text);
  if (!file) return tl::unexpected(file.error());
  if (file->size() == 0)
    return fail(ErrorCode::kInvalid, "the scenario is empty: it needs duration and groups at least");
  Reading reading;
  Scenario scenario = ScenarioReader(reading).read(*file);
  if (reading.failed()) return tl::unexpected(*reading.error());
  return scenario;
}

}  // namespace espalier::simulate
