#include "world.h"

#include <algorithm>

#include "model/instance_type.h"

namespace espalier::sim {

namespace {

// Delays of a small, quick cloud.
constexpr Millis kLaunchTakes{200};
constexpr Millis kAgentTakes{50};
constexpr Millis kCheckTakes{60'000};
constexpr Millis kSetupTakes{150};
constexpr Millis kSlurmTakes{40};

struct Disk {
  std::int64_t revision = 0;
  Cluster cluster;
  std::map<std::string, Group> groups;
  std::vector<Slot> slots;
  SlurmApplied slurm;
};
BOOST_DESCRIBE_STRUCT(Disk, (), (revision, cluster, groups, slots, slurm))

std::string save(const ClusterState& state) {
  Disk disk{state.revision, state.cluster, state.groups, {}, state.slurm};
  for (const auto& [id, slot] : state.slots) disk.slots.push_back(slot);
  return json::serialize(to_json(disk));
}

ClusterState load(const std::string& text) {
  Disk disk = *from_json<Disk>(*parse_json(text));
  ClusterState state{disk.revision, disk.cluster, disk.groups, {}, disk.slurm};
  for (const Slot& slot : disk.slots) state.slots[slot.id] = slot;
  return state;
}

}  // namespace

World::World(std::uint64_t seed, const reconcile::ClusterWish& wish) : random_(seed), pools_({}, Random(seed + 1)) {
  const reconcile::Context context{now_, &random_, [this](int n) { return random_.hex(2 * n); }, &settings, 0};
  state_ = reconcile::create(wish, context, events);
  disk_ = state_;
  after(Millis(0), [this] { step(); });
}

void World::after(Millis delay, std::function<void()> what) {
  queue_[{now_ + delay, ++last_queued_}] = std::move(what);
}

bool World::run(Millis length, const std::function<bool()>& until) {
  const Time end = now_ + length;
  while (!until()) {
    const auto first = queue_.begin();
    if (first == queue_.end() || first->first.first > end) {
      now_ = end;
      return until();
    }
    now_ = std::max(now_, first->first.first);
    auto what = std::move(first->second);
    queue_.erase(first);
    what();
    check();
  }
  return true;
}

void World::tell(reconcile::Input input) {
  inbox_.push_back(std::move(input));
  after(Millis(0), [this] { step(); });
}

void World::tell_if_same_process(int process, reconcile::Input input) {
  if (process == process_) tell(std::move(input));
}

void World::change(const reconcile::ClusterChange& change) { tell(reconcile::UserChange{change}); }
void World::remove() { tell(reconcile::UserDelete{}); }

void World::set_capacity(const std::string& instance_type, int machines) {
  capacity_[instance_type] = machines;
  pools_.reopen();
  hand_out();
}

void World::crash_at(int nth, bool after) {
  crash_in_ = nth;
  crash_after_ = after;
}

// Counts an effect; false when the process ends before it is carried out.
bool World::survives_effect() {
  ++effects;
  if (crash_in_ == 0) return true;
  return --crash_in_ > 0 || crash_after_;
}

void World::restart() {
  ++crashes;
  ++process_;
  inbox_.clear();
  observed_ = {};
  pools_ = reconcile::Pools({}, Random(random_.next()));
  state_ = load(save(disk_));  // through the text that a store keeps
  wake_.reset();
  enrol_calls_.clear();
  after(Millis(500), [this] { step(); });
  // The agents call again by themselves.
  for (auto& [id, machine] : machines_) {
    if (!machine.alive) continue;
    if (machine.credential.empty())
      after(Millis(600), [this, id = id] { boots(id); });
    else
      after(Millis(600), [this, id = id] { tell(reconcile::AgentHere{id}); });
  }
}

void World::commit(const reconcile::Changes& changes) {
  if (changes.none()) return;
  ++state_.revision;
  events.insert(events.end(), changes.events.begin(), changes.events.end());
  disk_ = state_;
  gone_ = gone_ || changes.removed;
}

void World::step() {
  if (gone_) return;
  std::vector<reconcile::Input> inputs;
  inputs.swap(inbox_);
  const reconcile::Context context{now_, &random_, [this](int n) { return random_.hex(2 * n); }, &settings, 0};
  reconcile::Output output = reconcile::step(state_, observed_, std::move(inputs), context);
  commit(output.changes);
  for (auto& answer : output.user) answers.push_back(std::move(answer));
  for (reconcile::Effect& effect : output.effects) {
    const bool last = crash_in_ == 1;
    if (!survives_effect()) return restart();
    carry_out(std::move(effect));
    if (last && crash_in_ == 0) return restart();
  }
  if (output.wake && output.wake != wake_) {
    wake_ = output.wake;
    queue_[{std::max(*wake_, now_), ++last_queued_}] = [this, process = process_] {
      if (process != process_) return;
      wake_.reset();
      step();
    };
  }
}

void World::carry_out(reconcile::Effect effect) {
  const int process = process_;
  if (std::holds_alternative<reconcile::ListMachines>(effect)) {
    after(Millis(10), [this, process] {
      reconcile::MachinesListed listed;
      for (const auto& [id, machine] : machines_) {
        listed.machines.push_back(machine.provided);
        listed.machines.back().running = machine.alive;
      }
      tell_if_same_process(process, std::move(listed));
    });
  } else if (auto* call = std::get_if<reconcile::Launch>(&effect)) {
    ++launch_calls[call->request.instance_type];
    pools_.launched({state_.cluster.id, call->request.group}, call->pool);
    after(kLaunchTakes,
          [this, pool = call->pool, request = call->request, process] { launch(pool, request, process); });
  } else if (const auto* demand = std::get_if<reconcile::Demand>(&effect)) {
    pools_.demand({state_.cluster.id, demand->group}, demand->pool, demand->count, demand->returned,
                  demand->controller);
    hand_out();
  } else if (auto* end = std::get_if<reconcile::Terminate>(&effect)) {
    after(Millis(100), [this, id = end->machine, process] {
      if (terminations_fail)
        return tell_if_same_process(process, reconcile::TerminateDone{id, fail(ErrorCode::kUnavailable, "no network")});
      machines_.erase(id);
      tell_if_same_process(process, reconcile::TerminateDone{id, {}});
    });
  } else if (auto* reboot = std::get_if<reconcile::Reboot>(&effect)) {
    after(Millis(100), [this, id = reboot->machine, process] { this->reboot(id, process); });
  } else if (auto* fetch = std::get_if<reconcile::FetchScripts>(&effect)) {
    after(Millis(10), [this, uri = fetch->uri, process] {
      tell_if_same_process(process, reconcile::ScriptsFetched{uri, scripts});
    });
  } else if (auto* send = std::get_if<reconcile::SendCommand>(&effect)) {
    command(send->machine, send->command);
  } else if (auto* answer = std::get_if<reconcile::EnrolAnswer>(&effect)) {
    const MachineId id = enrol_calls_[answer->call];
    if (answer->credential)
      after(Millis(1), [this, id, credential = *answer->credential] { enrolled(id, credential); });
    else if (answer->credential.error().code == ErrorCode::kUnavailable)
      after(Millis(50), [this, id] { boots(id); });
  } else if (std::holds_alternative<reconcile::RemoveVolumes>(effect)) {
    after(Millis(10), [this, process] { tell_if_same_process(process, reconcile::VolumesRemoved{{}}); });
  }
}

void World::launch_answered(const std::string& pool, const LaunchRequest& request, int process, LaunchOutcome outcome) {
  if (process != process_) return;
  pools_.answered({request.cluster, request.group}, pool, outcome ? FailureClass::None : outcome.error().kind,
                  outcome ? "" : outcome.error().message, now_);
  tell(reconcile::LaunchDone{request.slot, request.key, std::move(outcome)});
  hand_out();
}

void World::hand_out() {
  const auto decision = pools_.decide(now_);
  for (const auto& notice : decision.notices) tell(reconcile::PoolSeen{notice.pool, notice.closed});
  for (const auto& grant : decision.grants) tell(reconcile::Granted{grant.to.name, grant.pool, grant.count});
  if (decision.wake)
    queue_[{std::max(*decision.wake, now_), ++last_queued_}] = [this, process = process_] {
      if (process == process_) hand_out();
    };
}

void World::launch(const std::string& pool, const LaunchRequest& request, int process) {
  const auto known = machine_of_key_.find(request.key);
  if (known != machine_of_key_.end() && machines_.contains(known->second))
    return launch_answered(pool, request, process, machines_[known->second].provided);
  if (launch_fault)
    if (auto fault = launch_fault(request)) return launch_answered(pool, request, process, tl::unexpected(*fault));
  const auto limit = capacity_.find(request.instance_type);
  const auto used = std::ranges::count_if(
      machines_, [&](const auto& item) { return item.second.instance_type == request.instance_type; });
  if (limit != capacity_.end() && used >= limit->second)
    return launch_answered(
        pool, request, process,
        tl::unexpected(LaunchFailure{FailureClass::Shortage, "no capacity for " + request.instance_type}));
  SimMachine machine;
  machine.provided.machine.id = MachineId("i-" + random_.hex(17));
  machine.provided.machine.address =
      "10.0." + std::to_string(last_address_ / 250) + "." + std::to_string(last_address_ % 250 + 1);
  if (!request.address.empty()) machine.provided.machine.address = request.address;
  machine.provided.machine.launched_at = now_;
  machine.provided.machine.image = request.image.empty() ? "ami-11111111" : request.image;
  const int rack = last_address_++ / 4;
  if (const auto* type = find_instance_type(request.instance_type); type && type->network_layers > 0)
    machine.provided.machine.position.network_nodes = {"nn-root", "nn-spine-" + std::to_string(rack / 4),
                                                       "nn-leaf-" + std::to_string(rack)};
  if (topology::class_of(request.instance_type) == TopologyClass::block)
    machine.provided.machine.position.domain = "domain-" + std::to_string(rack);
  machine.provided.key = request.key;
  machine.provided.cluster = request.cluster;
  machine.provided.group = request.group;
  machine.provided.slot = request.slot;
  machine.token = request.user_data.token;
  machine.host_name = request.host_name;
  machine.instance_type = request.instance_type;
  machine.role = request.role;
  const MachineId id = machine.provided.machine.id;
  machine_of_key_[request.key] = id;
  launched_at.try_emplace(request.host_name, now_);
  machines_[id] = machine;
  launch_answered(pool, request, process, machine.provided);
  after(kAgentTakes, [this, id] { boots(id); });
}

void World::reboot(const MachineId& id, int process) {
  const auto found = machines_.find(id);
  if (found == machines_.end()) return;
  found->second.set_up = false;
  reboots.push_back(found->second.host_name);
  tell_if_same_process(process, reconcile::RebootDone{id, {}});
  after(kAgentTakes, [this, id] { tell(reconcile::AgentHere{id}); });
}

void World::boots(const MachineId& id) {
  const auto found = machines_.find(id);
  if (found == machines_.end() || !found->second.alive || !found->second.credential.empty()) return;
  if (never_boot.contains(found->second.instance_type) || never_boot.contains(found->second.provided.machine.image))
    return;
  enrol_calls_[++last_call_] = id;
  tell(reconcile::AgentEnrols{found->second.provided.slot, id, found->second.token, last_call_});
}

void World::enrolled(const MachineId& id, const std::string& credential) {
  const auto found = machines_.find(id);
  if (found == machines_.end() || !found->second.alive) return;
  found->second.credential = credential;
  tell(reconcile::AgentHere{id});
}

void World::command(const MachineId& id, const agent::Command& command) {
  const int process = process_;
  const auto found = machines_.find(id);
  if (found == machines_.end() || !found->second.alive) return;
  if (command.setup) {
    after(kSetupTakes, [this, id, setup = *command.setup, command_id = command.id, process] {
      const auto machine = machines_.find(id);
      if (machine == machines_.end() || !machine->second.alive) return;
      if (setup.lifecycle && script_fault) {
        ++script_runs;
        if (const std::string why = script_fault(*setup.lifecycle); !why.empty())
          return tell_if_same_process(process, reconcile::CommandDone{id, {command_id, false, why, {}}});
      }
      machine->second.set_up = true;
      for (const auto& file : setup.extra) extra[id][file.name] = file.text;
      if (setup.role == NodeType::Controller) {
        slurm.stop();
        slurm.start(setup.files);
      }
      if (setup.role == NodeType::Compute) register_node(id, setup.node_name);
      tell_if_same_process(process, reconcile::CommandDone{id, {command_id, true, "", {}}});
    });
  } else if (command.check) {
    const std::string node = found->second.host_name;
    ++checks[node];
    after(kCheckTakes, [this, id, node, order = *command.check, command_id = command.id, process] {
      if (!machines_.contains(id) || !machines_[id].alive) return;
      agent::CommandResult result{command_id, true, "", {}};
      for (const CheckKind kind : order.kinds) result.findings.push_back(check_finding(kind, node, order));
      tell_if_same_process(process, reconcile::CommandDone{id, std::move(result)});
    });
  } else if (command.extra) {
    const bool fails = extra_fails > 0;
    if (fails) --extra_fails;
    if (!fails)
      for (const auto& file : *command.extra) extra[id][file.name] = file.text;
    after(kSlurmTakes, [this, id, fails, command_id = command.id, process] {
      tell_if_same_process(process, reconcile::CommandDone{id, {command_id, !fails, fails ? "disk full" : "", {}}});
    });
  } else if (command.call_again) {
    after(kSlurmTakes, [this, id, node = found->second.host_name] { register_node(id, node); });
  } else if (command.slurm) {
    after(kSlurmTakes, [this, id, steps = *command.slurm, command_id = command.id, process] {
      if (!machines_.contains(id) || !machines_[id].alive) return;
      auto result = slurm.carry_out(command_id, steps);
      tell_if_same_process(process, reconcile::CommandDone{id, std::move(result)});
    });
  }
}

CheckFinding World::check_finding(CheckKind kind, const std::string& node, const agent::CheckOrder& order) {
  const auto verdict = verdicts.find(node);
  CheckFinding finding{kind, verdict == verdicts.end() ? CheckVerdict::Healthy : verdict->second, "it says so", {}, {}};
  if (kind == CheckKind::InstanceStress) return finding;
  finding.verdict = order.peers.empty() ? CheckVerdict::NotChecked : CheckVerdict::Healthy;
  for (const auto& peer : order.peers) {
    finding.peers.push_back(peer.name);
    if (unreachable.contains(peer.name)) finding.unreachable.push_back(peer.name);
  }
  return finding;
}

// As slurmd does: tries until slurmctld knows the node.
void World::register_node(const MachineId& id, const std::string& node) {
  const auto machine = machines_.find(id);
  if (machine == machines_.end() || !machine->second.alive) return;
  if (slurm.registers(node, machine->second.provided.machine.address)) return report_nodes();
  after(Millis(1000), [this, id, node] { register_node(id, node); });
}

void World::report_nodes() {
  for (const auto& [id, machine] : machines_)
    if (machine.role == NodeType::Controller && machine.alive && machine.set_up)
      after(Millis(100), [this, id = id] { tell(reconcile::NodesSeen{id, slurm.view()}); });
}

void World::slurm_forgets(const std::string& node) {
  slurm.forget(node);
  report_nodes();
}

void World::kill(const MachineId& id) {
  machines_.at(id).alive = false;
  after(Millis(1), [this, id] { tell(reconcile::MachineExited{id}); });
}

const Slot& World::slot(const std::string& node) const {
  const auto found =
      std::ranges::find_if(state_.slots, [&](const auto& item) { return item.second.node_name == node; });
  if (found == state_.slots.end()) throw std::out_of_range(node);
  return found->second;
}

int World::ready(const std::string& group) const {
  return static_cast<int>(std::ranges::count_if(state_.slots, [&](const auto& item) {
    return item.second.group == group && item.second.state == SlotState::Ready;
  }));
}

bool World::all_ready() const {
  return std::ranges::all_of(state_.groups,
                             [&](const auto& item) { return ready(item.first) == item.second.target_count; }) &&
         std::ranges::all_of(state_.slots, [](const auto& item) { return item.second.state == SlotState::Ready; });
}

int World::live_machines() const {
  return static_cast<int>(std::ranges::count_if(machines_, [](const auto& item) { return item.second.alive; }));
}

std::vector<std::string> World::event_texts() const {
  std::vector<std::string> texts;
  for (const Event& event : events) texts.push_back(event.description);
  return texts;
}

// What must hold at every moment, whatever happens.
void World::check() {
  std::map<SlotId, int> of_slot;
  for (const auto& [id, machine] : machines_)
    if (machine.alive && ++of_slot[machine.provided.slot] > 1)
      broken.push_back("two machines for " + machine.host_name);
  for (const std::string& node : slurm.hostages) broken.push_back("a waiting job may take the absent node " + node);
  for (const auto& [node, leaves] : slurm.leaves())
    if (leaves.size() != 1) broken.push_back(node + " is on " + std::to_string(leaves.size()) + " leaves");
  for (const auto& [node, n] : slurm.nodes()) {
    auto is_its = [&](const auto& item) { return item.second.host_name == node; };
    if (n.jobs > 0 && std::ranges::none_of(machines_, is_its))
      broken.push_back("the machine of the busy node " + node + " was ended");
    if (!slurm.leaves().empty() && !slurm.leaves().contains(node)) broken.push_back(node + " is on no leaf");
  }
}

}  // namespace espalier::sim
