#include "provider/sim/fake_provider.h"

#include <algorithm>
#include <utility>

namespace espalier::sim {

namespace {

// Takes the first of a queue, when there is one.
template <typename T>
std::optional<T> take(std::deque<T>& queue) {
  if (queue.empty()) return std::nullopt;
  std::optional<T> first(std::move(queue.front()));
  queue.pop_front();
  return first;
}

tl::unexpected<LaunchFailure> failure(FailureClass kind, std::string message) {
  return tl::unexpected(LaunchFailure{kind, std::move(message)});
}

}  // namespace

FakeProvider::FakeProvider(const Clock& clock, Placement placement) : clock_(clock), placement_(std::move(placement)) {}

void FakeProvider::set_capacity(const std::string& instance_type, std::optional<int> machines) {
  const std::lock_guard lock(mutex_);
  capacity_.erase(instance_type);
  if (machines) capacity_.emplace(instance_type, *machines);
}

void FakeProvider::refuse(const std::string& instance_type, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  refused_[instance_type] = reason;
}

void FakeProvider::script(const std::string& key, Script script) {
  const std::lock_guard lock(mutex_);
  scripts_[key].push_back(std::move(script));
}

void FakeProvider::release() {
  const std::lock_guard lock(mutex_);
  ++releases_;
  hanging_ = 0;
  changed_.notify_all();
}

void FakeProvider::await_hanging(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return hanging_ >= count; });
}

void FakeProvider::fail_next(Call call, Error error) {
  const std::lock_guard lock(mutex_);
  errors_[call].push_back(std::move(error));
}

void FakeProvider::end(const MachineId& id) {
  std::function<void(const ProvidedMachine&)> callback;
  ProvidedMachine ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = machines_.find(id);
    if (found == machines_.end() || !found->second.machine.running) return;
    found->second.machine.running = false;
    ended = found->second.machine;
    callback = on_exit_;
  }
  if (callback) callback(ended);
}

int FakeProvider::calls(Call call) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  return found == calls_.end() ? 0 : found->second;
}

std::vector<LaunchRequest> FakeProvider::launches() const {
  const std::lock_guard lock(mutex_);
  return launches_;
}

std::vector<MachineId> FakeProvider::terminated() const {
  const std::lock_guard lock(mutex_);
  return terminated_;
}

std::vector<ClusterId> FakeProvider::removed_volumes() const {
  const std::lock_guard lock(mutex_);
  return removed_volumes_;
}

std::vector<std::string> FakeProvider::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

Result<void> FakeProvider::offers(const std::string& instance_type) const {
  const std::lock_guard lock(mutex_);
  const auto found = refused_.find(instance_type);
  if (found == refused_.end()) return {};
  return fail(ErrorCode::kInvalid, "{} is not offered: {}", instance_type, found->second);
}

LaunchOutcome FakeProvider::launch(const LaunchRequest& request) {
  std::unique_lock lock(mutex_);
  count(Call::kLaunch);
  launches_.push_back(request);
  if (made_by(request.key) != nullptr) return answer(request, {});
  const Script script = take_script(request.key).value_or(Script{});
  if (script.hangs) hang(lock);
  return answer(request, script);
}

std::optional<Script> FakeProvider::take_script(const std::string& key) {
  if (auto own = take(scripts_[key])) return own;
  return take(scripts_[""]);
}

void FakeProvider::hang(std::unique_lock<std::mutex>& lock) {
  ++hanging_;
  changed_.notify_all();
  changed_.wait(lock, [this, before = releases_] { return releases_ != before; });
}

LaunchOutcome FakeProvider::answer(const LaunchRequest& request, const Script& script) {
  if (const Made* made = made_by(request.key)) {
    watch_key(*made, request);
    return made->machine;
  }
  if (script.failure && !script.machine_comes) return tl::unexpected(*script.failure);
  if (const auto no = refused_.find(request.instance_type); no != refused_.end())
    return failure(FailureClass::WrongConfiguration, no->second);
  const auto bound = capacity_.find(request.instance_type);
  if (bound != capacity_.end() && running(request.instance_type) >= bound->second)
    return failure(FailureClass::Shortage, fmt::format("all {} {} are in use", bound->second, request.instance_type));
  watch_slot(request);
  ProvidedMachine machine = make(request);
  if (script.failure) return tl::unexpected(*script.failure);
  return machine;
}

const FakeProvider::Made* FakeProvider::made_by(const std::string& key) const {
  const auto found = std::find_if(machines_.begin(), machines_.end(),
                                  [&](const auto& each) { return each.second.request.key == key; });
  return found == machines_.end() ? nullptr : &found->second;
}

int FakeProvider::running(const std::string& instance_type) const {
  return static_cast<int>(std::count_if(machines_.begin(), machines_.end(), [&](const auto& each) {
    return each.second.machine.running && each.second.request.instance_type == instance_type;
  }));
}

ProvidedMachine FakeProvider::make(const LaunchRequest& request) {
  const std::size_t number = machines_.size();
  ProvidedMachine out;
  out.machine.id = MachineId(fmt::format("i-{:017x}", number + 1));
  out.machine.address =
      request.address.empty() ? fmt::format("10.77.{}.{}", number / 250, number % 250 + 2) : request.address;
  if (placement_) out.machine.position = placement_(request, number);
  out.machine.launched_at = clock_.now();
  out.key = request.key;
  out.cluster = request.cluster;
  out.group = request.group;
  out.slot = request.slot;
  machines_.emplace(out.machine.id, Made{out, request});
  return out;
}

void FakeProvider::watch_slot(const LaunchRequest& request) {
  for (const auto& [id, made] : machines_) {
    if (made.machine.running && made.machine.slot == request.slot && made.machine.cluster == request.cluster)
      violations_.push_back(fmt::format("slot {} has machine {} and launches another with key {}", request.slot.value,
                                        id.value, request.key));
  }
}

void FakeProvider::watch_key(const Made& made, const LaunchRequest& request) {
  if (to_json(made.request) != to_json(request))
    violations_.push_back(fmt::format("key {} is used again with other parameters", request.key));
}

// The error that was scripted for this call, if any.
std::optional<Error> FakeProvider::count(Call call) {
  ++calls_[call];
  return take(errors_[call]);
}

Result<void> FakeProvider::terminate(const MachineId& id) {
  const std::lock_guard lock(mutex_);
  if (auto error = count(Call::kTerminate)) return tl::unexpected(*error);
  terminated_.push_back(id);
  if (const auto found = machines_.find(id); found != machines_.end()) {
    found->second.machine.running = false;
    found->second.terminated = true;
  }
  return {};
}

Result<std::vector<ProvidedMachine>> FakeProvider::list(const ClusterId& cluster) {
  const std::lock_guard lock(mutex_);
  if (auto error = count(Call::kList)) return tl::unexpected(*error);
  std::vector<ProvidedMachine> out;
  for (const auto& [id, made] : machines_) {
    if (!made.terminated && (cluster.empty() || made.machine.cluster == cluster)) out.push_back(made.machine);
  }
  return out;
}

Result<void> FakeProvider::remove_volumes(const ClusterId& cluster) {
  const std::lock_guard lock(mutex_);
  if (auto error = count(Call::kRemoveVolumes)) return tl::unexpected(*error);
  for (const auto& [id, made] : machines_) {
    if (!made.terminated && made.machine.cluster == cluster)
      violations_.push_back(fmt::format("volumes of {} are removed under machine {}", cluster.value, id.value));
  }
  removed_volumes_.push_back(cluster);
  return {};
}

void FakeProvider::on_exit(std::function<void(const ProvidedMachine&)> callback) {
  const std::lock_guard lock(mutex_);
  on_exit_ = std::move(callback);
}

}  // namespace espalier::sim
