#include "provider/sim/capacity_model.h"

#include "base/file.h"
#include "model/instance_type.h"
#include "provider/sim/yaml.h"

namespace espalier::sim {

namespace {

constexpr const char* kDefault = "default";
constexpr Millis kLongestLaunch{std::chrono::hours(1)};
constexpr int kMostMachines = 1'000'000;

Result<Pool> read_pool(const YAML::Node& node) {
  Pool pool;
  int machines = -1;
  Millis::rep launch_time = 0;
  return check_members(node, {"machines", "launch_time_ms", "failure_rate", "failure_class"})
      .and_then([&] { return read_member(node, "machines", machines); })
      .and_then([&] { return read_member(node, "launch_time_ms", launch_time); })
      .and_then([&] { return read_member(node, "failure_rate", pool.failure_rate); })
      .and_then([&] { return read_member(node, "failure_class", pool.failure_class); })
      .map([&] {
        if (node["machines"]) pool.machines = machines;
        pool.launch_time = Millis(launch_time);
        return pool;
      });
}

Result<std::map<std::string, Pool>> read_kept(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::map<std::string, Pool>{};
  if (!text) return tl::unexpected(text.error());
  return parse_json(*text).and_then(from_json<std::map<std::string, Pool>>).map_error([&](const Error& e) {
    return Error{e.code, fmt::format("cannot read the capacity kept in {}: {}", path.string(), e.message)};
  });
}

}  // namespace

Result<std::map<std::string, Pool>> pools_from_yaml(const std::string& text) {
  const auto map = parse_yaml_map(text);
  if (!map) return tl::unexpected(map.error());
  std::map<std::string, Pool> pools;
  for (const auto& member : *map) {
    const std::string type = member.first.Scalar();
    const auto pool = read_pool(member.second);
    if (!pool) return fail(pool.error().code, "{}: {}", type, pool.error().message);
    if (auto ok = check_pool(type, *pool); !ok) return tl::unexpected(ok.error());
    pools[type] = *pool;
  }
  return pools;
}

Result<void> check_pool(const std::string& instance_type, const Pool& pool) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalid, "capacity of {}: {}", instance_type, what);
  };
  if (instance_type != kDefault && find_instance_type(instance_type) == nullptr)
    return wrong("there is no such instance type; 'default' stands for all that are not named");
  if (pool.machines && (*pool.machines < 0 || *pool.machines > kMostMachines))
    return wrong("the number of machines must be 0 to 1000000, or absent for no bound");
  if (pool.launch_time < Millis(0) || pool.launch_time > kLongestLaunch)
    return wrong("the launch time must be 0 to 3600000 milliseconds");
  if (!(pool.failure_rate >= 0 && pool.failure_rate <= 1)) return wrong("the failure rate must be 0 to 1");
  if (pool.failure_class.empty()) return {};
  const auto kind = enum_value<FailureClass>(pool.failure_class);
  if (kind && *kind != FailureClass::None) return {};
  return wrong(
      "the failure class must be Shortage, Quota, Throttling, WrongConfiguration, BadMachine, Bootstrap or Unknown");
}

Result<std::unique_ptr<CapacityModel>> CapacityModel::open(std::filesystem::path kept,
                                                           std::map<std::string, Pool> start) {
  auto set = read_kept(kept);
  if (!set) return tl::unexpected(set.error());
  std::unique_ptr<CapacityModel> model(new CapacityModel(std::move(kept), std::move(start)));
  model->set_ = std::move(*set);
  return model;
}

Pool CapacityModel::pool(const std::string& instance_type) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : {instance_type, std::string(kDefault)})
    for (const auto* pools : {&set_, &start_})
      if (const auto found = pools->find(name); found != pools->end()) return found->second;
  return {};
}

std::map<std::string, Pool> CapacityModel::pools() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Pool> out = set_;
  out.insert(start_.begin(), start_.end());
  out.try_emplace(kDefault);
  return out;
}

Result<void> CapacityModel::set(const std::string& instance_type, const Pool& pool) {
  if (auto ok = check_pool(instance_type, pool); !ok) return ok;
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    auto changed = set_;
    changed[instance_type] = pool;
    if (auto ok = write_file(kept_, pretty_json(to_json(changed)) + "\n"); !ok) return ok;
    set_ = std::move(changed);
    callback = callback_;
  }
  if (callback) callback();
  return {};
}

void CapacityModel::on_change(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
}

std::optional<LaunchFailure> CapacityModel::shortage(const std::string& instance_type, int in_use) const {
  const auto machines = pool(instance_type).machines;
  if (!machines || in_use < *machines) return {};
  return LaunchFailure{FailureClass::Shortage,
                       fmt::format("We currently do not have sufficient capacity to launch new {} instances. "
                                   "Please try again.",
                                   instance_type)};
}

std::optional<LaunchFailure> CapacityModel::fault(const std::string& instance_type, Random& random) const {
  const Pool current = pool(instance_type);
  if (current.failure_rate <= 0 || random.unit() >= current.failure_rate) return {};
  const auto kind = enum_value<FailureClass>(current.failure_class).value_or(FailureClass::BadMachine);
  return LaunchFailure{kind, fmt::format("the capacity model lets {:.0f} % of the launches of {} fail ({})",
                                         current.failure_rate * 100, instance_type, enum_name(kind))};
}

}  // namespace espalier::sim
