// LocalProvider::launch, step by step: reserve → await capacity → write the folder → build → watch.
#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "machine/build.h"
#include "model/instance_type.h"
#include "provider/local/local.h"

namespace espalier::local {

namespace {

constexpr Millis kDestroyTime{15'000};
constexpr std::size_t kLinkDigits = 11;  // "esp-" and these make the 15 characters that a link name may have

LaunchFailure failure(FailureClass kind, const Error& error) { return {kind, error.message}; }

FailureClass kind_of(const Error& error) {
  return error.code == ErrorCode::kPermission ? FailureClass::WrongConfiguration : FailureClass::BadMachine;
}

std::string without_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

LaunchOutcome LocalProvider::launch(const LaunchRequest& request) {
  machine::MachineSpec spec;
  bool is_new = false;
  {
    std::unique_lock lock(mutex_);
    // The same key twice at once: the second waits for what comes of the first.
    changed_.wait(lock, [&] {
      const Entry* entry = find_key(request.key);
      return entry == nullptr || !entry->busy();
    });
    Entry* entry = find_key(request.key);
    if (entry != nullptr && machine::state(folders_.machine(entry->spec.id)).phase != machine::Phase::kUnbuilt)
      return provided(entry->spec);
    is_new = entry == nullptr;
    if (is_new) {
      auto reserved = reserve(request);
      if (!reserved) return tl::unexpected(reserved.error());
      spec = std::move(*reserved);
      entry = &entries_[spec.id];
      entry->spec = spec;
    }
    spec = entry->spec;
    entry->launching = true;
  }
  auto outcome = build_reserved(spec, request, is_new);
  if (!outcome) {
    if (auto cleared = folders_.destroy_machine(spec, kDestroyTime); !cleared)
      log::error("machine {} could not be built nor removed: {}", spec.id.str(), cleared.error().message);
  } else {
    watch(spec.id);
  }
  const std::lock_guard lock(mutex_);
  if (outcome)
    entries_[spec.id].launching = false;
  else
    entries_.erase(spec.id);
  if (!outcome) bridge_ready_ = false;  // somebody may have removed it: look again before the next one
  changed_.notify_all();
  return outcome;
}

LocalProvider::Entry* LocalProvider::find_key(const std::string& key) {
  const auto found = std::ranges::find_if(entries_, [&](const auto& e) { return e.second.spec.key == key; });
  return found == entries_.end() ? nullptr : &found->second;
}

tl::expected<machine::MachineSpec, LaunchFailure> LocalProvider::reserve(const LaunchRequest& request) {
  if (stopping_) return tl::unexpected(LaunchFailure{FailureClass::Unknown, "the provider is stopping"});
  if (auto ok = offers(request.instance_type); !ok)
    return tl::unexpected(failure(FailureClass::WrongConfiguration, ok.error()));
  const auto in_use = std::ranges::count_if(
      entries_, [&](const auto& e) { return e.second.spec.instance_type == request.instance_type; });
  if (auto shortage = capacity_->shortage(request.instance_type, static_cast<int>(in_use)))
    return tl::unexpected(*shortage);
  if (!bridge_ready_)
    if (auto made = ensure_bridge(settings_.bridge, subnet_, owner()); !made)
      return tl::unexpected(failure(FailureClass::WrongConfiguration, made.error()));
  bridge_ready_ = true;
  auto address = choose_address(request.address);
  if (!address) return tl::unexpected(failure(FailureClass::Unknown, address.error()));
  const auto image = image_of(request.image);
  if (!image) return tl::unexpected(failure(FailureClass::WrongConfiguration, image.error()));
  auto volumes = folders_.volumes(request.cluster, request.role, *image);
  if (!volumes) return tl::unexpected(failure(FailureClass::WrongConfiguration, volumes.error()));

  reload_fabric();
  std::vector<Position> taken;
  for (const auto& [id, entry] : entries_) taken.push_back(entry.spec.position);
  const std::string digits = random_.hex(17);
  return machine::MachineSpec{.id = MachineId("i-" + digits),
                              .key = request.key,
                              .cluster = request.cluster,
                              .group = request.group,
                              .slot = request.slot,
                              .role = request.role,
                              .instance_type = request.instance_type,
                              .host_name = request.host_name,
                              .address = *address,
                              .prefix = subnet_.prefix,
                              .gateway = host_address(),
                              .bridge = settings_.bridge,
                              .link = "esp-" + digits.substr(0, kLinkDigits),
                              .image = *image,
                              .volumes = std::move(*volumes),
                              .gpus = find_instance_type(request.instance_type)->gpus,
                              .neuron_devices = find_instance_type(request.instance_type)->neuron_devices,
                              .position = fabric_.place(request.instance_type, taken),
                              .zone = settings_.zone,
                              .launched_at = SystemClock().now()};
}

Result<std::filesystem::path> LocalProvider::image_of(const std::string& id) const {
  if (id.empty() || id == image_id(settings_.image)) return settings_.image;
  for (const auto& image : settings_.more_images)
    if (id == image_id(image)) return image;
  return fail(ErrorCode::kNotFound, "there is no image {} any more", id);
}

std::vector<std::string> LocalProvider::images() const {
  std::vector<std::string> ids{image_id(settings_.image)};
  for (const auto& image : settings_.more_images) ids.push_back(image_id(image));
  return ids;
}

Result<std::string> LocalProvider::choose_address(const std::string& wish) {
  std::set<std::uint32_t> used;
  for (const auto& [id, entry] : entries_) {
    if (!wish.empty() && entry.spec.address == wish)
      return fail(ErrorCode::kConflict, "the address {} is still in use by machine {}", wish, id.str());
    if (const auto address = parse_address(entry.spec.address)) used.insert(*address);
  }
  const auto wished = parse_address(wish);
  // After a change of the subnet an old wish cannot be met.
  if (wished && subnet_.contains(*wished)) return wish;
  return addresses_.next(used).map(address_text);
}

// A file that cannot be used any more leaves the model as it is: a half-saved edit fails no launch.
void LocalProvider::reload_fabric() {
  if (settings_.fabric.empty()) return;
  std::error_code ec;
  const auto written = std::filesystem::last_write_time(settings_.fabric, ec);
  if (ec || written == fabric_read_) return;
  fabric_read_ = written;
  auto model = read_file(settings_.fabric).and_then(sim::FabricModel::from_yaml);
  if (model)
    fabric_ = std::move(*model);
  else
    log::warn("the fabric model {} is not used: {}", settings_.fabric.string(), model.error().message);
}

LaunchOutcome LocalProvider::build_reserved(const machine::MachineSpec& spec, const LaunchRequest& request,
                                            bool is_new) {
  if (is_new)
    if (auto refused = await_capacity(request.instance_type)) return tl::unexpected(*refused);
  UserData user_data = request.user_data;
  user_data.machine_id = spec.id.str();
  auto built = folders_.write_machine(spec, user_data).and_then([&] { return run_builder("build", spec.id); });
  if (!built) return tl::unexpected(failure(kind_of(built.error()), built.error()));
  return provided(spec);
}

std::optional<LaunchFailure> LocalProvider::await_capacity(const std::string& instance_type) {
  const auto begin = std::chrono::steady_clock::now();
  const auto until = [&] { return begin + capacity_->pool(instance_type).launch_time; };  // it may change meanwhile
  std::unique_lock lock(mutex_);
  while (!stopping_ && std::chrono::steady_clock::now() < until()) changed_.wait_until(lock, until());
  if (stopping_) return LaunchFailure{FailureClass::Unknown, "the provider is stopping"};
  return capacity_->fault(instance_type, random_);
}

Result<void> LocalProvider::run_builder(const char* command, const MachineId& id) {
  RunOptions options;
  // A restart has a machine to end before.
  options.timeout = std::string_view(command) == "restart" ? 2 * settings_.launch_deadline : settings_.launch_deadline;
  builders_.acquire();
  auto ran = run({settings_.agent, command, folders_.machine(id)}, options);
  builders_.release();
  if (!ran) return tl::unexpected(ran.error());
  if (ran->status == 0) return {};
  return fail(ErrorCode::kUnavailable, "{}", without_newline(ran->err));
}

}  // namespace espalier::local
