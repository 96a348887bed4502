#include "simulation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log_sink.h"
#include "reconcile/update/software.h"
#include "store/sqlite/on_vfs.h"
#include "topology/plan.h"

namespace espalier::sim {

namespace {

constexpr Millis kSecond{1'000};
constexpr Millis kMinute{60'000};
constexpr Millis kSettlesWithin{90 * kMinute};
constexpr Millis kAnswered{30 * kSecond};
constexpr Millis kLongestHang{12 * kMinute};
constexpr Millis kStaysFor{4 * kMinute};
constexpr Millis kGoesWithin{60 * kMinute};
constexpr std::int64_t kMostAtOnce = 100'000;  // events of one millisecond; some hundreds are usual
constexpr const char* kAdmin = "alice: looks at it";
constexpr Millis kListLag{60'000};  // the longest

// Compute machines at work and their controllers, as slurmctld can reach them: "<cluster> <node>@<address>".
std::string reach(const ClusterId& cluster, const std::string& node, const std::string& address) {
  return fmt::format("{} {}@{}", cluster.value, node, address);
}

}  // namespace

Options life(std::uint64_t seed) {
  Options options;
  options.sqlite = seed % 2 == 1;
  options.reconcile.minimum_wait = 20 * kMinute;  // a roll-back within the life
  options.reconcile.scripts = true;
  options.reconcile.script_time_limit = 2 * kMinute;
  return options;
}

Simulation::Simulation(std::uint64_t seed, Options options)
    : options_(std::move(options)), nature_(seed, options_.trace, options_.start) {
  if (options_.own_log)
    log::set_sink([this](log::Level level, std::string_view text) {
      if (level != log::Level::kDebug) nature_.log("log: {}", text);
    });
  network_.slowest = options_.network_slowest;
  checks_.on_commit = options_.committed;
  cloud_.on_made = [this](const Cloud::Made& made) { machine_made(made); };
  cloud_.on_reboot = [this](const Cloud::Made& made) { machines_.at(made.provided.machine.id)->reboot(); };
  cloud_.on_died = [this](const Cloud::Made& made) { machine_died(made); };
  cloud_.on_terminated = [this](const Cloud::Made& made) { machine_terminated(made); };
  network_.listener = [this](Door door, http::Request request, http::Reply reply) {
    if (!plane_ || !plane_->alive()) return false;
    plane_->handle(door, std::move(request), std::move(reply));
    return true;
  };
  nature_.time.after(options_.ping_every, [this] { ping_nodes(); });
}

Simulation::~Simulation() {
  plane_.reset();
  if (options_.own_log) log::set_sink(nullptr);
}

// What a process finds when it starts: all that was answered, and whole commits only.
void Simulation::open_disk() {
  if (options_.store != nullptr) return;
  if (!disk_ && !options_.file.empty()) disk_ = store::sqlite_store(options_.file).value();
  if (!disk_ && !options_.sqlite) disk_ = store::memory_store();
  if (!disk_ && options_.sqlite) {
    if (!memory_disk_) memory_disk_ = std::make_unique<MemoryDisk>(nature_.time.random().next());
    memory_disk_->process_begins();
    auto opened = store::sqlite_store_on(memory_disk_->vfs(), "espalier.db");
    if (!opened) return nature_.violated("the store cannot be opened: {}", opened.error().message);
    disk_ = std::move(*opened);
  }
  if (!options_.checks) return;
  if (auto loaded = disk_->load())
    checks_.found(*loaded);
  else
    nature_.violated("the store cannot be read: {}", loaded.error().message);
}

void Simulation::close_disk() {
  if (!memory_disk_) return;
  memory_disk_->process_ends();
  if (nature_.strikes(Fault::PowerFails)) memory_disk_->power_fails();
  disk_.reset();
}

// ---- the control plane's process -----------------------------------------------------------------------------------

void Simulation::start() {
  open_disk();
  if (!nature_.broken.empty()) return;
  const Millis skew = nature_.strikes(Fault::ClockJumps) ? any_skew() : Millis(0);
  engine::Settings settings{options_.reconcile, "http://10.0.0.1:8651"};
  plane_ = std::make_unique<ControlPlane>(
      ControlPlane::Given{nature_, cloud_, checks_, options_.store == nullptr ? *disk_ : *options_.store,
                          memory_disk_.get(), options_.calls, options_.counters, std::move(settings),
                          options_.machines.agent, skew, fmt::format("run-{}", ++plane_runs_), options_.services});
  nature_.log("the control plane starts, run {}", plane_runs_);
  if (auto started = plane_->start(); !started) nature_.violated("it does not start: {}", started.error().message);
  // What ended while nobody listened is told again.
  for (const auto& [id, machine] : machines_)
    if (!machine->alive())
      nature_.time.after(nature_.time.between(kSecond, kListLag), [this, id = id] {
        if (plane_ && plane_->alive()) plane_->tell_exit(cloud_.find(id)->provided);
      });
}

Millis Simulation::any_skew() { return nature_.time.between(-2 * kMinute, 2 * kMinute); }

void Simulation::bury() {
  plane_.reset();
  close_disk();
  network_.cut();
  nature_.time.after(nature_.time.between(Millis(50), Millis(20'000)), [this] { start(); });
}

void Simulation::handle(http::Request request, http::Reply reply) {
  if (!plane_ || !plane_->alive()) return reply(api::too_busy());
  plane_->handle(Door::kApi, std::move(request), std::move(reply));
}

bool Simulation::run(Millis length, const std::function<bool()>& until) {
  const Time end = nature_.now() + length;
  Time moved{};
  std::int64_t since = 0;
  while (nature_.broken.empty() && !until()) {
    if (!nature_.time.run_one(end)) return until();
    since = std::exchange(moved, nature_.now()) == nature_.now() ? since + 1 : 0;
    if (options_.checks && since > kMostAtOnce) nature_.violated("it goes round in circles: time stands still");
    if (plane_ && !plane_->alive()) bury();
  }
  return nature_.broken.empty();
}

// ---- machines ------------------------------------------------------------------------------------------------------

void Simulation::machine_made(const Cloud::Made& made) {
  auto& slurm = slurms_[made.provided.cluster];
  if (!slurm.hides_node) {
    slurm.hides_node = [this] { return nature_.strikes(Fault::SlurmPartial); };
    slurm.refuses_now = [this](const agent::SlurmStep&) { return nature_.strikes(Fault::StepRefused); };
    slurm.violated = [this](const std::string& what) { nature_.violated("{}", what); };
    slurm.changed = [this](const Slurm& changed) {
      if (options_.checks) checks_.look_at_slurm(changed);
    };
  }
  const MachineId id = made.provided.machine.id;
  const auto it = std::make_shared<Machine>(nature_, network_, slurm, options_.machines, made, options_.checks);
  machines_[id] = it;
  it->boot();
  if (nature_.strikes(Fault::DiesYoung))
    nature_.time.after(nature_.time.between(Millis(0), Millis(40'000)), [this, id] { dies_by_chance(id); });
}

void Simulation::machine_died(const Cloud::Made& made) {
  machines_.at(made.provided.machine.id)->end();
  nature_.time.after(nature_.time.between(Millis(1), Millis(500)), [this, provided = made.provided] {
    if (plane_ && plane_->alive()) plane_->tell_exit(provided);
  });
}

void Simulation::machine_terminated(const Cloud::Made& made) {
  const auto found = machines_.find(made.provided.machine.id);
  if (found == machines_.end()) return;
  if (found->second->alive()) found->second->end();
  machines_.erase(found);
}

void Simulation::kill(const std::string& cluster_name, const std::string& node) {
  for (const auto& [id, slot] : cluster(cluster_name)->slots)
    if (slot.node_name == node && slot.machine) return cloud_.die(slot.machine->id);
}

// slurmctld finds out which of its nodes are silent.
void Simulation::ping_nodes() {
  std::set<std::string> reachable;
  for (const auto& [id, machine] : machines_)
    if (machine->alive()) reachable.insert(reach(machine->request().cluster, machine->node(), machine->address()));
  for (auto& [cluster, slurm] : slurms_) {
    std::vector<std::pair<std::string, std::string>> silent;
    for (const auto& [name, node] : slurm.nodes())
      if (!node.cloud && node.responding && !reachable.contains(reach(cluster, name, node.address)))
        silent.emplace_back(name, node.address);
    for (const auto& [name, address] : silent) slurm.notices_silence(name, address);
  }
  nature_.time.after(options_.ping_every, [this] { ping_nodes(); });
}

// ---- what happens by chance ----------------------------------------------------------------------------------------

void Simulation::each_minute() {
  if (!chaos_) return;
  std::vector<MachineId> ids;
  for (const auto& [id, machine] : machines_) ids.push_back(id);
  for (const MachineId& id : ids)
    if (const auto found = machines_.find(id); found != machines_.end() && found->second->alive())
      something_to_a_machine(*found->second);
  for (auto& [id, slurm] : slurms_) {
    if (nature_.strikes(Fault::AdminActs)) an_admin_acts(slurm);
    if (nature_.time.chance(0.5)) slurm.save();
  }
  if (nature_.strikes(Fault::Shortage)) pools_change();
  if (plane_ && plane_->alive() && nature_.strikes(Fault::ClockJumps)) plane_->set_clock(any_skew());
  nature_.time.after(kMinute, [this] { each_minute(); });
}

void Simulation::something_to_a_machine(Machine& machine) {
  const auto soon = nature_.time.between(Millis(0), kMinute);
  const MachineId id(machine.id());
  if (nature_.strikes(Fault::DiesLater))
    nature_.time.after(soon, [this, id] { dies_by_chance(id); });
  else if (nature_.strikes(Fault::AgentRestarts))
    nature_.time.after(soon, [weak = std::weak_ptr(machines_.at(id))] {
      if (const auto it = weak.lock()) it->restart_agent();
    });
  else if (machine.runs_slurmctld() && nature_.strikes(Fault::SlurmRestarts))
    machine.restart_slurmctld(nature_.time.between(Millis(100), Millis(20'000)), nature_.strikes(Fault::SlurmForgets));
}

void Simulation::dies_by_chance(const MachineId& id) {
  if (chaos_) cloud_.die(id);
}

void Simulation::an_admin_acts(Slurm& slurm) {
  if (!slurm.up() || slurm.nodes().empty()) return;
  auto node = slurm.nodes().begin();
  std::advance(node, nature_.time.random().below(slurm.nodes().size()));
  if (node->second.foreign) {
    nature_.log("admin: lifts {}", node->first);
    return slurm.admin_lifts(node->first, nature_.now());
  }
  const bool orders = nature_.time.chance(0.2);
  const std::string state = nature_.time.chance(0.3) ? "down" : orders ? "fail" : "drain";
  const std::string reason = !orders ? kAdmin : nature_.time.chance(0.5) ? "Action:Replace" : "Action:Reboot";
  nature_.log("admin: {} {} {}", state, node->first, reason);
  slurm.admin_sets(node->first, state, reason);
}

void Simulation::a_job_comes(Slurm& slurm) {
  if (slurm.partitions().empty() || nature_.time.chance(0.3)) return;
  auto partition = slurm.partitions().begin();
  std::advance(partition, nature_.time.random().below(slurm.partitions().size()));
  const int job = slurm.start_job(partition->first, nature_.time.between(1, 3));
  if (job == 0) return;
  nature_.log("job {} starts in {}", job, partition->first);
  nature_.time.after(nature_.time.between(10 * kSecond, 8 * kMinute), [this, &slurm, job] {
    nature_.log("job {} ends", job);
    slurm.end_job(job);
  });
}

void Simulation::jobs_come() {
  if (!chaos_) return;
  for (auto& [id, slurm] : slurms_) a_job_comes(slurm);
  nature_.time.after(nature_.time.between(5 * kSecond, kMinute), [this] { jobs_come(); });
}

void Simulation::users_act() {
  if (!chaos_) return;
  user_.do_something();
  nature_.time.after(nature_.time.between(Millis(100), 2 * kMinute), [this] { users_act(); });
}

void Simulation::pools_change() {
  static constexpr std::array kTypes{"ml.p5.48xlarge", "ml.p4d.24xlarge", "ml.c5.4xlarge", "ml.m5.large"};
  const std::string type = kTypes.at(nature_.time.random().below(kTypes.size()));
  const bool bounded = nature_.time.chance(0.7);
  set_capacity(type, bounded ? std::optional(nature_.time.between(0, 8)) : std::nullopt);
}

void Simulation::set_capacity(const std::string& instance_type, std::optional<int> machines) {
  nature_.log("pool of {}: {}", instance_type, machines ? std::to_string(*machines) : "no bound");
  cloud_.set_capacity(instance_type, machines);
  if (plane_ && plane_->alive()) plane_->capacity_changed();
}

void Simulation::faults_stop() {
  nature_.log("the faults stop");
  chaos_ = false;
  nature_.faults = Faults();
  // What cannot be had as a whole is never there.
  const bool all_or_nothing =
      std::ranges::any_of(user_.wishes(), [](const auto& item) { return !item.second.continuous; });
  if (plane_ && plane_->alive()) plane_->set_clock(Millis(0));
  for (const auto* type : {"ml.p5.48xlarge", "ml.p4d.24xlarge", "ml.c5.4xlarge", "ml.m5.large"})
    if (cloud_.is_bounded(type) && (nature_.time.chance(0.7) || all_or_nothing)) set_capacity(type, std::nullopt);
  for (auto& [id, slurm] : slurms_) {
    if (!slurm.up()) slurm.start_again();
  }
  admins_lift();
}

// Admins lift what they did, and look again: an order of ours that kept their reason may have crossed theirs.
void Simulation::admins_lift() {
  for (auto& [id, slurm] : slurms_) {
    std::vector<std::string> theirs;
    for (const auto& [name, node] : slurm.nodes())
      if (node.touched || node.reason.starts_with(kAdmin)) theirs.push_back(name);
    for (const std::string& name : theirs) slurm.admin_lifts(name, nature_.now());
  }
  nature_.time.after(kMinute, [this] { admins_lift(); });
}

// ---- a life --------------------------------------------------------------------------------------------------------

bool Simulation::live() {
  nature_.faults = chosen_ = Faults::from_seed(nature_.time.random());
  nature_.log("faults: {}", chosen_.text());
  chaos_ = true;
  start();
  nature_.time.after(Millis(1), [this] { users_act(); });
  nature_.time.after(kMinute, [this] { each_minute(); });
  nature_.time.after(kSecond, [this] { jobs_come(); });
  run(nature_.time.between(kMinute, 15 * kMinute));
  if (!nature_.broken.empty()) return false;
  faults_stop();
  return settles() && stays() && goes();
}

bool Simulation::settles() {
  // What was still asked for at random is not to cross what is wanted in the end, nor are calls that hang.
  run(chosen_.on(Fault::CallHangs) ? kLongestHang : kAnswered);
  for (const auto& [name, wish] : user_.wishes()) user_.insist(name);
  std::string why = "it was not looked at";
  Time next_look{};
  const bool well = run(kSettlesWithin, [&] {
    if (nature_.now() < next_look) return false;
    next_look = nature_.now() + kSecond;
    return all_is_well(&why);
  });
  if (!well && nature_.broken.empty()) nature_.violated("{} min after the faults: {}", kSettlesWithin / kMinute, why);
  return well;
}

// What is as it should be is left as it is.
bool Simulation::stays() {
  const auto made = cloud_.made_count();
  const auto alive = cloud_.all_alive().size();
  run(kStaysFor);
  if (!nature_.broken.empty()) return false;
  if (cloud_.made_count() != made || cloud_.all_alive().size() != alive)
    nature_.violated("machines come and go although all was well");
  std::string why;
  if (!all_is_well(&why)) nature_.violated("all was well, and no longer is: {}", why);
  look_at_the_disk();
  return nature_.broken.empty();
}

bool Simulation::goes() {
  if (nature_.time.chance(0.5)) return true;
  for (auto& [name, wish] : user_.wishes()) {
    wish.wanted = false;
    user_.insist(name);
  }
  const bool gone = run(kGoesWithin, [&] { return checks_.disk().empty() && cloud_.all_alive().empty(); });
  if (!gone && nature_.broken.empty())
    nature_.violated("{} machines and {} clusters are left after all was deleted", cloud_.all_alive().size(),
                     checks_.disk().size());
  return gone;
}

// Everything that is wished for and can be had is there, and nothing else.
bool Simulation::all_is_well(std::string* why) const {
  std::map<std::string, int> missing;  // instance type → machines
  std::size_t slots = 0;
  const auto& clusters = checks_.disk();
  for (const auto& [name, wish] : user_.wishes()) {
    if (!user_.has_its_will(name)) return *why = fmt::format("{} is not as its user wants it", name), false;
    const ClusterState* state = cluster(name);
    if (wish.wanted != (state != nullptr)) return *why = fmt::format("{} is there or is not", name), false;
    if (state == nullptr) continue;
    std::set<std::string> waiting;  // groups, for what cannot be had
    if (state->cluster.change) return *why = fmt::format("{} is being changed as a whole", name), false;
    for (const auto& [id, slot] : state->slots) {
      const Group& group = state->groups.at(slot.group);
      if (slot.machine) ++slots;
      if (slot.state == SlotState::Ready && slot.wanted && slot.machine && cloud_.alive(slot.machine->id)) continue;
      const auto types = types_of(group);
      const bool can_be_had =
          std::ranges::any_of(types, [&](const std::string& type) { return !cloud_.is_bounded(type); });
      if (can_be_had || slot.machine || !slot.wanted)
        return *why = fmt::format("{} of {} is {}{}", slot.node_name, name, enum_name(slot.state),
                                  in_slurm(state->cluster.id, slot.node_name)),
               false;
      for (const std::string& type : types) ++missing[type];
      waiting.insert(slot.group);
    }
    for (const auto& [group_name, group] : state->groups)
      if (group.minimum || (reconcile::is_updating(group) && !waiting.contains(group_name)))
        return *why = fmt::format("{} of {} is being updated, or waits for its minimum", group_name, name), false;
    for (const auto& [id, slot] : state->slots) {
      if (slot.state != SlotState::Ready || state->groups.at(slot.group).type != NodeType::Compute) continue;
      const auto& nodes = slurms_.at(state->cluster.id).nodes();
      const auto node = nodes.find(slot.node_name);
      if (node == nodes.end() || node->second.down || node->second.drain || node->second.cloud)
        return *why = fmt::format("{} of {} is Ready, and Slurm may not use it{}", slot.node_name, name,
                                  in_slurm(state->cluster.id, slot.node_name)),
               false;
    }
    if (!names_resolve(*state, why)) return false;
  }
  for (const auto& [type, count] : missing)
    if (const int all = cloud_.capacity(type); cloud_.running(type) < all)
      return *why = fmt::format("{} {} are missing, and {} of {} are in use", count, type, cloud_.running(type), all),
             false;
  if (cloud_.all_alive().size() != slots)
    return *why = fmt::format("{} machines run for {} slots", cloud_.all_alive().size(), slots), false;
  if (clusters.size() > user_.wishes().size()) return *why = "there are clusters that nobody wants", false;
  return true;
}

// Every machine of the cluster knows the address of every other, and of none that is gone.
bool Simulation::names_resolve(const ClusterState& state, std::string* why) const {
  std::map<std::string, std::string> addresses;
  for (const auto& [id, slot] : state.slots)
    if (slot.machine) addresses[slot.node_name] = slot.machine->address;
  for (const auto& [id, slot] : state.slots)
    if (slot.machine && machines_.at(slot.machine->id)->hosts() != addresses)
      return *why = fmt::format("{} of {} knows {} names, and there are {}", slot.node_name, state.cluster.name,
                                machines_.at(slot.machine->id)->hosts().size(), addresses.size()),
             false;
  return true;
}

std::string Simulation::in_slurm(const ClusterId& cluster, const std::string& node) const {
  const auto slurm = slurms_.find(cluster);
  if (slurm == slurms_.end() || !slurm->second.nodes().contains(node)) return "";
  const agent::NodeView view = slurm->second.view(node);
  return fmt::format(" (in Slurm {} at {}: {})", view.state, view.address, view.reason);
}

// What a restart would find is what was answered.
void Simulation::look_at_the_disk() {
  const auto loaded = disk_->load();
  if (!loaded) return nature_.violated("the store cannot be read: {}", loaded.error().message);
  checks_.found(*loaded);
  for (const ClusterState& state : *loaded) {
    if (plane_ && plane_->alive())
      static_cast<void>(plane_->engine().read(state.cluster.id, [&](const engine::View& view) {
        if (!same_rows(view.state, state))
          nature_.violated("cluster {} is in memory with other rows than on disk", state.cluster.name);
      }));
  }
}

// ---- by hand -------------------------------------------------------------------------------------------------------

const ClusterState* Simulation::cluster(const std::string& name) const {
  for (const auto& [id, state] : checks_.disk())
    if (state.cluster.name == name) return &state;
  return nullptr;
}

Slurm& Simulation::slurm(const std::string& name) { return slurms_.at(cluster(name)->cluster.id); }

Slurm* Simulation::slurm_of(const ClusterId& id) {
  const auto found = slurms_.find(id);
  return found == slurms_.end() ? nullptr : &found->second;
}

int Simulation::ready(const std::string& name, const std::string& group) const {
  const ClusterState* state = cluster(name);
  if (state == nullptr) return 0;
  return static_cast<int>(std::ranges::count_if(state->slots, [&](const auto& item) {
    return item.second.state == SlotState::Ready && (group.empty() || item.second.group == group);
  }));
}

bool Simulation::complete(const std::string& name) const {
  const ClusterState* state = cluster(name);
  if (state == nullptr) return false;
  std::size_t wanted = 0;
  for (const auto& [group_name, group] : state->groups) wanted += static_cast<std::size_t>(group.target_count);
  return state->slots.size() == wanted && ready(name) == static_cast<int>(wanted);
}

std::pair<int, json::object> Simulation::ask(const std::string& operation, const json::object& body) {
  std::optional<std::pair<int, json::object>> answer;
  user_.ask(operation, body, [&](int status, const json::object& said) { answer = {status, said}; });
  run(2 * kMinute, [&] { return answer.has_value(); });
  return answer.value_or(std::pair<int, json::object>{0, {}});
}

}  // namespace espalier::sim
