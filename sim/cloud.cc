#include "cloud.h"

#include <algorithm>
#include <utility>

#include "model/instance_type.h"

namespace espalier::sim {

namespace {

constexpr int kLeaf = 4;     // machines on a leaf
constexpr int kSpine = 4;    // leaves below a spine
constexpr int kDomain = 18;  // machines of an NVLink domain

}  // namespace

LaunchOutcome Cloud::launch(const LaunchRequest& request) {
  if (const Made* made = made_by(request.key)) {
    if (to_json(made->request) != to_json(request))
      nature_.violated("key {} is used again with other parameters", request.key);
    return made->provided;
  }
  const auto bound = capacity_.find(request.instance_type);
  if (bound != capacity_.end() && running(request.instance_type) >= bound->second)
    return tl::unexpected(
        LaunchFailure{FailureClass::Shortage, fmt::format("no capacity for {}", request.instance_type)});
  if (pools_ != nullptr) {
    auto no = pools_->shortage(request.instance_type, running(request.instance_type));
    if (!no) no = pools_->fault(request.instance_type, nature_.time.random());
    if (no) return tl::unexpected(std::move(*no));
  }
  if (const auto other = alive_of_slot_.find(request.slot); other != alive_of_slot_.end())
    nature_.violated("two machines for {}: {} runs when another is launched", request.host_name, other->second.value);
  return make(request);
}

ProvidedMachine Cloud::make(const LaunchRequest& request) {
  Made made;
  auto& free = free_seats_[request.instance_type];
  if (free.empty()) {
    made.seat = seats_[request.instance_type]++;
  } else {
    made.seat = free.back();
    free.pop_back();
  }
  Machine& machine = made.provided.machine;
  machine.id = MachineId(fmt::format("i-{:017x}", first_ + machines_.size() + 1));
  machine.address = request.address.empty() ? free_address() : request.address;
  machine.position = position(request.instance_type, made.seat);
  machine.zone = "sim-1a";
  machine.image = request.image.empty() ? kImages.front() : request.image;
  machine.launched_at = nature_.now();
  made.provided.key = request.key;
  made.provided.cluster = request.cluster;
  made.provided.group = request.group;
  made.provided.slot = request.slot;
  made.request = request;
  made.made = nature_.now();
  nature_.log("cloud: {} at {} is made for {}", machine.id.value, machine.address, request.host_name);
  by_key_[request.key] = machine.id;
  alive_of_slot_[request.slot] = machine.id;
  ++running_[request.instance_type];
  const Made& kept = machines_[machine.id] = std::move(made);
  if (on_made) on_made(kept);
  return kept.provided;
}

// As many layers as the type has; a domain hangs on a leaf of its own.
Position Cloud::position(const std::string& instance_type, int seat) const {
  if (position_of_seat) return position_of_seat(instance_type, seat);
  Position out;
  const InstanceType* type = find_instance_type(instance_type);
  if (type == nullptr || type->network_layers <= 0) return out;
  const bool block = type->topology == TopologyClass::block;
  const int leaf = seat / (block ? kDomain : kLeaf);
  const std::string family = instance_type.substr(0, instance_type.rfind('.'));
  if (type->network_layers >= 3) out.network_nodes.push_back(family + "-root");
  if (type->network_layers >= 2) out.network_nodes.push_back(fmt::format("{}-spine-{}", family, leaf / kSpine));
  out.network_nodes.push_back(fmt::format("{}-leaf-{}", family, leaf));
  if (block) out.domain = fmt::format("{}-domain-{}", family, leaf);
  return out;
}

std::string Cloud::free_address() {
  if (!free_addresses_.empty() && nature_.strikes(Fault::AddressReused)) {
    std::string last = std::move(free_addresses_.back());
    free_addresses_.pop_back();
    return last;
  }
  const int n = addresses_++;
  return fmt::format("10.{}.{}.{}", 64 + n / 62'500, n / 250 % 250, n % 250 + 2);
}

void Cloud::end(Made& made) {
  made.ended = nature_.now();
  made.provided.running = false;
  const auto of_slot = alive_of_slot_.find(made.provided.slot);
  if (of_slot != alive_of_slot_.end() && of_slot->second == made.provided.machine.id) alive_of_slot_.erase(of_slot);
  --running_[made.request.instance_type];
  free_seats_[made.request.instance_type].push_back(made.seat);
  // A controller's address stays with its slot.
  if (made.request.role != NodeType::Controller) free_addresses_.push_back(made.provided.machine.address);
}

Result<void> Cloud::terminate(const MachineId& id) {
  const auto found = machines_.find(id);
  if (found == machines_.end() || found->second.terminated) return {};
  Made& made = found->second;
  made.terminated = true;
  if (!made.ended) end(made);
  made.ended = nature_.now();
  nature_.log("cloud: {} of {} is terminated", id.value, made.request.host_name);
  if (on_terminated) on_terminated(made);
  return {};
}

Result<void> Cloud::reboot(const MachineId& id) {
  const Made* made = find(id);
  if (made == nullptr || made->terminated) return fail(ErrorCode::kNotFound, "there is no machine {}", id.value);
  if (made->ended) return fail(ErrorCode::kUnavailable, "{} has ended and does not start again", id.value);
  if (on_reboot) on_reboot(*made);
  return {};
}

void Cloud::die(const MachineId& id) {
  Made& made = machines_.at(id);
  if (made.ended) return;
  made.died = true;
  end(made);
  nature_.log("cloud: {} of {} dies", id.value, made.request.host_name);
  if (on_died) on_died(made);
}

std::vector<ProvidedMachine> Cloud::list(const ClusterId& cluster, Millis lag) const {
  const Time then = nature_.now() - lag;
  std::vector<ProvidedMachine> out;
  for (const auto& [id, made] : machines_) {
    if (made.made > then || (!cluster.empty() && made.provided.cluster != cluster)) continue;
    const bool ended = made.ended && *made.ended <= then;
    if (made.terminated && ended) continue;
    out.push_back(made.provided);
    out.back().running = !ended;
  }
  return out;
}

void Cloud::remove_volumes(const ClusterId& cluster) {
  for (const Made* made : all_alive())
    if (made->provided.cluster == cluster)
      nature_.violated("volumes of {} are removed under {}", cluster.value, made->provided.machine.id.value);
  nature_.log("cloud: volumes of {} are removed", cluster.value);
}

void Cloud::set_bucket(double burst, double per_second) { bucket_ = {burst, per_second, burst, nature_.now()}; }

bool Cloud::lets_launch() {
  if (!bucket_) return true;
  const double seconds = static_cast<double>((nature_.now() - bucket_->filled).count()) / 1000.0;
  bucket_->filled = nature_.now();
  bucket_->tokens = std::min(bucket_->most, bucket_->tokens + seconds * bucket_->per_second);
  if (bucket_->tokens < 1) return false;
  bucket_->tokens -= 1;
  return true;
}

void Cloud::set_capacity(const std::string& instance_type, std::optional<int> machines) {
  capacity_.erase(instance_type);
  if (machines) capacity_[instance_type] = *machines;
}

int Cloud::running(const std::string& instance_type) const {
  const auto found = running_.find(instance_type);
  return found == running_.end() ? 0 : found->second;
}

bool Cloud::alive(const MachineId& id) const {
  const Made* made = find(id);
  return made != nullptr && !made->ended;
}

const Cloud::Made* Cloud::find(const MachineId& id) const {
  const auto found = machines_.find(id);
  return found == machines_.end() ? nullptr : &found->second;
}

const Cloud::Made* Cloud::made_by(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : find(found->second);
}

std::vector<const Cloud::Made*> Cloud::all_alive() const {
  std::vector<const Made*> out;
  for (const auto& [slot, id] : alive_of_slot_) out.push_back(&machines_.at(id));
  return out;
}

}  // namespace espalier::sim
