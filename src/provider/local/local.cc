#include "provider/local/local.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "machine/build.h"
#include "model/instance_type.h"

namespace espalier::local {

namespace {

constexpr Millis kDestroyTime{15'000};
constexpr Millis kControllerGrace{5000};

Result<Subnet> check(const LocalSettings& settings) {
  return check_host(settings).and_then([&] { return parse_subnet(settings.subnet); });
}

Result<std::map<std::string, Pool>> read_pools(const std::filesystem::path& path) {
  if (path.empty()) return std::map<std::string, Pool>{};
  return read_file(path).and_then(sim::pools_from_yaml).map_error([&](const Error& e) {
    return Error{e.code, fmt::format("cannot use the capacity model {}: {}", path.string(), e.message)};
  });
}

Result<sim::FabricModel> read_fabric(const std::filesystem::path& path) {
  if (path.empty()) return sim::FabricModel();
  return read_file(path).and_then(sim::FabricModel::from_yaml).map_error([&](const Error& e) {
    return Error{e.code, fmt::format("cannot use the fabric model {}: {}", path.string(), e.message)};
  });
}

}  // namespace

Result<std::unique_ptr<LocalProvider>> LocalProvider::open(LocalSettings settings) {
  // Machines mount by these paths, from wherever they are built.
  std::vector<std::filesystem::path*> paths{&settings.state, &settings.image, &settings.agent};
  for (auto& image : settings.more_images) paths.push_back(&image);
  for (auto* path : paths)
    if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal();
  const auto subnet = check(settings);
  if (!subnet) return tl::unexpected(subnet.error());
  if (auto made = make_folder(settings.state, 0711); !made) return tl::unexpected(made.error());
  auto fabric = read_fabric(settings.fabric);
  if (!fabric) return tl::unexpected(fabric.error());
  auto pools = read_pools(settings.capacity);
  if (!pools) return tl::unexpected(pools.error());
  auto capacity = sim::CapacityModel::open(settings.state / "capacity.json", std::move(*pools));
  if (!capacity) return tl::unexpected(capacity.error());

  if (settings.launch_threads <= 0)
    settings.launch_threads = 2 * static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::unique_ptr<LocalProvider> provider(new LocalProvider(std::move(settings), *subnet, std::move(*capacity)));
  provider->fabric_ = std::move(*fabric);
  if (auto adopted = provider->adopt(); !adopted) return tl::unexpected(adopted.error());
  return provider;
}

LocalProvider::LocalProvider(LocalSettings settings, Subnet subnet, std::unique_ptr<sim::CapacityModel> capacity)
    : settings_(std::move(settings)),
      subnet_(subnet),
      folders_(settings_.state),
      capacity_(std::move(capacity)),
      builders_(settings_.launch_threads),
      addresses_(subnet),
      watcher_([this](const MachineId& id) { ended(id); }) {}

Result<void> LocalProvider::adopt() {
  auto machines = folders_.open();
  if (!machines) return tl::unexpected(machines.error());
  if (auto made = ensure_bridge(settings_.bridge, subnet_, owner()); !made) return made;
  if (!allow_many_neighbours())
    log::info(
        "the kernel's table of neighbours cannot be enlarged from here: enough for some 100 machines at its default");
  std::ranges::sort(*machines, {}, &machine::MachineSpec::launched_at);
  for (machine::MachineSpec& spec : *machines) {
    const MachineId id = spec.id;
    if (const auto address = parse_address(spec.address)) addresses_.continue_after(*address);
    entries_[id] = Entry{.spec = std::move(spec)};
    watch(id);
  }
  return {};
}

void LocalProvider::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

LocalProvider::~LocalProvider() {
  stop();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return std::ranges::none_of(entries_, [](const auto& e) { return e.second.busy(); }); });
  if (entries_.empty() && !folders_.has_volumes()) (void)remove_bridge(settings_.bridge, owner());
}

Result<void> LocalProvider::offers(const std::string& instance_type) const {
  const InstanceType* type = find_instance_type(instance_type);
  if (type == nullptr) return fail(ErrorCode::kInvalid, "there is no instance type '{}'", instance_type);
  if (type->vcpus && type->memory_mib) return {};
  return fail(ErrorCode::kInvalid,
              "the local provider does not offer {}: its size (CPUs, memory) is not known here, so it cannot be "
              "declared to Slurm",
              instance_type);
}

Result<std::vector<ProvidedMachine>> LocalProvider::list(const ClusterId& cluster) {
  std::vector<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : entries_)
      if (!entry.launching && (cluster.empty() || entry.spec.cluster == cluster)) entries.push_back(entry);
  }
  std::vector<ProvidedMachine> out;
  for (const auto& entry : entries) {
    out.push_back(provided(entry.spec));
    out.back().running = out.back().running || entry.rebooting;
  }
  return out;
}

ProvidedMachine LocalProvider::provided(const machine::MachineSpec& spec) const {
  const bool running = machine::state(folders_.machine(spec.id)).phase == machine::Phase::kRuns;
  return {.machine = {spec.id, spec.address, spec.position, spec.zone, spec.launched_at, image_id(spec.image)},
          .key = spec.key,
          .cluster = spec.cluster,
          .group = spec.group,
          .slot = spec.slot,
          .running = running};
}

Result<void> LocalProvider::terminate(const MachineId& id) {
  machine::MachineSpec spec;
  {
    std::unique_lock lock(mutex_);
    const auto busy = [&] {
      const auto found = entries_.find(id);
      return found != entries_.end() && found->second.busy();
    };
    changed_.wait(lock, [&] { return !busy(); });
    const auto found = entries_.find(id);
    if (found == entries_.end()) return {};
    found->second.terminating = true;
    spec = found->second.spec;
  }
  watcher_.remove(id);
  // slurmctld saves its state up to 5 s late, and all of it when it is asked to end: what is replaced loses no job.
  if (const auto now = machine::state(folders_.machine(id)); now.pid1 && spec.role == NodeType::Controller)
    (void)machine::end_process(*now.pid1, SIGTERM, kControllerGrace);
  auto destroyed = folders_.destroy_machine(spec, kDestroyTime);
  if (!destroyed) watch(id);
  const std::lock_guard lock(mutex_);
  if (destroyed)
    entries_.erase(id);
  else
    entries_[id].terminating = false;
  changed_.notify_all();
  return destroyed;
}

Result<void> LocalProvider::reboot(const MachineId& id) {
  {
    std::unique_lock lock(mutex_);
    // Asked twice at once, it reboots once for both: the second finds a machine that has just started.
    const auto found = entries_.find(id);
    const bool rebooting = found != entries_.end() && found->second.rebooting;
    changed_.wait(lock, [&] {
      const auto now = entries_.find(id);
      return now == entries_.end() || !(now->second.launching || now->second.rebooting);
    });
    const auto entry = entries_.find(id);
    if (entry == entries_.end()) return fail(ErrorCode::kNotFound, "there is no machine {} to reboot", id.str());
    if (entry->second.terminating) return fail(ErrorCode::kConflict, "machine {} is being terminated", id.str());
    if (rebooting) return {};
    entry->second.rebooting = true;
  }
  watcher_.remove(id);
  auto started = run_builder("restart", id);
  {
    const std::lock_guard lock(mutex_);
    entries_[id].rebooting = false;
    changed_.notify_all();
  }
  watch(id);
  if (!started) ended(id);
  return started;
}

Result<void> LocalProvider::remove_volumes(const ClusterId& cluster) {
  const std::lock_guard lock(mutex_);
  const auto owned = std::ranges::count_if(entries_, [&](const auto& e) { return e.second.spec.cluster == cluster; });
  if (owned > 0)
    return fail(ErrorCode::kConflict, "cluster {} still has {} machines: terminate them first", cluster.str(), owned);
  if (auto removed = folders_.remove_volumes(cluster); !removed) return removed;
  // The next launch makes the bridge again; what listens on its address need not notice.
  if (!entries_.empty() || folders_.has_volumes()) return {};
  bridge_ready_ = false;
  return remove_bridge(settings_.bridge, owner());
}

void LocalProvider::on_exit(std::function<void(const ProvidedMachine&)> callback) {
  const std::lock_guard lock(mutex_);
  exit_callback_ = std::move(callback);
}

void LocalProvider::watch(const MachineId& id) {
  const auto state = machine::state(folders_.machine(id));
  if (!state.pid1) return;
  if (auto process = machine::open_process(*state.pid1)) watcher_.add(id, std::move(*process));
}

void LocalProvider::ended(const MachineId& id) {
  std::function<void(const ProvidedMachine&)> callback;
  machine::MachineSpec spec;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.terminating || found->second.rebooting) return;
    spec = found->second.spec;
    callback = exit_callback_;
  }
  log::warn("machine {} ({}) has ended by itself", id.str(), spec.host_name);
  if (callback) callback(provided(spec));
}

std::map<std::string, PoolUse> LocalProvider::show() {
  std::map<std::string, PoolUse> out;
  for (const auto& [type, pool] : capacity_->pools()) out[type].pool = pool;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, entry] : entries_) {
    const auto [use, added] = out.try_emplace(entry.spec.instance_type);
    if (added) use->second.pool = capacity_->pool(entry.spec.instance_type);
    ++use->second.in_use;
  }
  return out;
}

Result<void> LocalProvider::set(const std::string& instance_type, const Pool& pool) {
  auto ok = capacity_->set(instance_type, pool);
  const std::lock_guard lock(mutex_);
  changed_.notify_all();  // launches under way may take another time now
  return ok;
}

void LocalProvider::on_change(std::function<void()> callback) { capacity_->on_change(std::move(callback)); }

}  // namespace espalier::local
