#include "engine/engine.h"

#include <algorithm>

#include "agent/credential.h"
#include "base/log.h"
#include "base/secret.h"

namespace espalier::engine {

namespace {

constexpr Millis kStoreRetry{1000};
constexpr std::int64_t kEventsKept = 10'000;  // of a cluster; older ones go, a thousand at a time

int instances_wished(const ClusterState& state) {
  int all = 0;
  for (const auto& [name, group] : state.groups) all += group.deleting ? 0 : group.target_count;
  return all;
}

// "<cluster>.<slot>.<secret>", as tokens and credentials are written.
std::pair<ClusterId, SlotId> owner_of(const std::string& secret) {
  const auto first = secret.find('.');
  const auto second = first == std::string::npos ? first : secret.find('.', first + 1);
  if (second == std::string::npos) return {};
  return {ClusterId(secret.substr(0, first)), SlotId(secret.substr(first + 1, second - first - 1))};
}

Actor::UserReply without_answer(Clusters::Changed reply) {
  return [reply = std::move(reply)](Result<reconcile::UserAnswer> answer) {
    reply(answer ? Result<void>() : tl::unexpected(std::move(answer.error())));
  };
}

template <typename Answer>
Actor::UserReply with_answer(std::function<void(Result<Answer>)> reply) {
  return [reply = std::move(reply)](Result<reconcile::UserAnswer> answer) {
    if (!answer) return reply(tl::unexpected(std::move(answer.error())));
    reply(std::get<Answer>(std::move(*answer)));
  };
}

// After these it is known that nothing was stored; after all others it may have been (store.h).
bool leaves_open(const Error& error) {
  return error.code != ErrorCode::kConflict && error.code != ErrorCode::kExists && error.code != ErrorCode::kInvalid;
}

}  // namespace

Engine::Engine(World world, Settings settings)
    : world_(std::move(world)),
      settings_(std::move(settings)),
      launcher_(world_.clock, world_.timers, world_.launches ? *world_.launches : world_.provider_calls,
                world_.provider, reconcile::Pools(settings_.reconcile.pools, world_.new_random()),
                settings_.launch_deadline,
                [this](const ClusterId& cluster, reconcile::Input input) {
                  if (const ActorPtr actor = find_actor(cluster)) return post(actor, std::move(input));
                  const auto* launch = std::get_if<reconcile::LaunchDone>(&input);
                  if (launch && launch->outcome) end_orphan(launch->outcome->machine.id);
                }),
      questions_(world_.agents, world_.clock, world_.timers) {
  world_.agents.set_listener(this);
  world_.provider.on_exit([this](const ProvidedMachine& machine) {
    if (const ActorPtr actor = find_actor(machine.cluster)) post(actor, reconcile::MachineExited{machine.machine.id});
  });
}

Engine::~Engine() { world_.provider.on_exit(nullptr); }

Result<void> Engine::start() {
  auto loaded = world_.store.load();
  if (!loaded) return tl::unexpected(loaded.error());
  for (ClusterState& state : *loaded) {
    const auto actor = std::make_shared<Actor>(std::move(state), world_.new_random());
    actor->last_event = actor->state.cluster.last_event;
    actor->instances = instances_wished(actor->state);
    add(actor);
    for (const auto& [id, slot] : actor->state.slots)
      if (slot.machine) {
        cluster_of_machine_[slot.machine->id] = actor->id;
        if (!slot.credential.empty()) world_.agents.expect(slot.machine->id);
      }
  }
  for (const ActorPtr& actor : all_actors()) schedule(actor);
  return {};
}

// A launch that hung for so long that its cluster was gone when it gave a machine after all.
void Engine::end_orphan(const MachineId& machine) {
  world_.provider_calls.post([this, machine] {
    const auto done = world_.provider.terminate(machine);
    if (done) return;
    log::warn("{}, of a cluster that is gone, could not be terminated, tried again: {}", machine.value,
              done.error().message);
    world_.timers.schedule(world_.clock.now() + Millis(5000), [this, machine] { end_orphan(machine); });
  });
}

// Machines of clusters that this store does not know are left alone: they may be all that is left of a lost store.
void Engine::warn_of_strangers() {
  const auto machines = world_.provider.list({});
  if (!machines) return;
  std::map<ClusterId, int> strangers;
  for (const ProvidedMachine& machine : *machines)
    if (!find_actor(machine.cluster)) ++strangers[machine.cluster];
  for (const auto& [cluster, count] : strangers)
    log::warn("{} machines of cluster {} run, which this state does not know: was its database lost?", count,
              cluster.value);
}

// ---- the table of clusters -------------------------------------------------------------------------------------

Engine::ActorPtr Engine::find_actor(const ClusterId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = actors_.find(id);
  return found == actors_.end() ? nullptr : found->second;
}

Engine::ActorPtr Engine::actor_of(const MachineId& machine) {
  const std::lock_guard lock(mutex_);
  const auto cluster = cluster_of_machine_.find(machine);
  if (cluster == cluster_of_machine_.end()) return nullptr;
  const auto found = actors_.find(cluster->second);
  return found == actors_.end() ? nullptr : found->second;
}

std::vector<Engine::ActorPtr> Engine::all_actors() {
  const std::lock_guard lock(mutex_);
  std::vector<ActorPtr> all;
  for (const auto& [id, actor] : actors_) all.push_back(actor);
  return all;
}

void Engine::add(const ActorPtr& actor) {
  const std::lock_guard lock(mutex_);
  const Cluster& cluster = actor->state.cluster;
  actors_[cluster.id] = actor;
  names_[{cluster.account, cluster.region, cluster.name}] = cluster.id;
}

void Engine::forget(const Actor& actor) {
  launcher_.forget(actor.id);
  const std::lock_guard lock(mutex_);
  const Cluster& cluster = actor.state.cluster;
  // The name is free as soon as the store has let the cluster go: it may be another's by now.
  const auto name = names_.find({cluster.account, cluster.region, cluster.name});
  if (name != names_.end() && name->second == actor.id) names_.erase(name);
  std::erase_if(cluster_of_machine_, [&](const auto& item) { return item.second == actor.id; });
  actors_.erase(actor.id);
}

int Engine::instances_of(const std::string& account, const ClusterId& except) {
  int all = 0;
  for (const ActorPtr& actor : all_actors())
    if (actor->id != except && actor->state.cluster.account == account) all += actor->instances;
  return all;
}

Result<ClusterId> Engine::find(const std::string& account, const std::string& region, const std::string& name_or_arn) {
  const std::lock_guard lock(mutex_);
  const std::string prefix = fmt::format("arn:aws:sagemaker:{}:{}:cluster/", region, account);
  if (name_or_arn.starts_with("arn:")) {
    const ClusterId id(name_or_arn.starts_with(prefix) ? name_or_arn.substr(prefix.size()) : "");
    if (actors_.contains(id)) return id;
  } else if (const auto found = names_.find({account, region, name_or_arn}); found != names_.end()) {
    return found->second;
  }
  return fail(ErrorCode::kNotFound, "Cluster {} not found in region {}", name_or_arn, region);
}

std::vector<ClusterId> Engine::list(const std::string& account, const std::string& region) {
  const std::lock_guard lock(mutex_);
  std::vector<ClusterId> ids;
  for (const auto& [name, id] : names_)
    if (std::get<0>(name) == account && std::get<1>(name) == region) ids.push_back(id);
  return ids;
}

Result<void> Engine::read(const ClusterId& cluster, const std::function<void(const View&)>& reader) {
  const ActorPtr actor = find_actor(cluster);
  if (!actor) return fail(ErrorCode::kNotFound, "Cluster {} not found", cluster.value);
  const std::lock_guard lock(actor->state_mutex);
  const ClusterState& state = actor->state;
  const reconcile::Observed& observed = actor->observed;
  reconcile::Index first;  // before its first step
  if (!observed.index.built()) first.build(state);
  const auto slot_of = [&](const MachineId& machine) -> const Slot* {
    const auto found = observed.slot_of_machine.find(machine);
    const auto slot = found == observed.slot_of_machine.end() ? state.slots.end() : state.slots.find(found->second);
    return slot == state.slots.end() ? nullptr : &slot->second;
  };
  std::optional<reconcile::SlurmWanted> made;
  const auto wanted = [&]() -> const reconcile::SlurmWanted& {
    if (observed.wanted_is_new()) return *observed.wanted;
    if (!made) made = reconcile::slurm_wanted(state, observed.shown);
    return *made;
  };
  reader(View{state, observed.index.built() ? observed.index : first, slot_of, observed.slurm_nodes, observed.health,
              [&] { return reconcile::topology_truth(state, observed); }, wanted,
              [&](const Slot& slot) { return reconcile::explain(state, observed, settings_.reconcile, slot); },
              [&](const Slot& slot) { return reconcile::next_launch(state, observed, slot); }});
  return {};
}

void Engine::read_job(const ClusterId& cluster, const std::string& job, JobRead reply) {
  const ActorPtr actor = find_actor(cluster);
  if (!actor) return reply(fail(ErrorCode::kNotFound, "Cluster {} not found", cluster.value));
  std::optional<MachineId> controller;
  {
    const std::lock_guard lock(actor->state_mutex);
    const auto& observed = actor->observed;
    const auto slot = actor->state.slots.find(observed.controller.value_or(SlotId()));
    if (observed.slurm_read && slot != actor->state.slots.end() && slot->second.machine)
      controller = slot->second.machine->id;
  }
  if (!controller)
    return reply(fail(ErrorCode::kUnavailable, "The cluster's controller does not answer now: ask again"));
  agent::SlurmStep step;
  step.kind = agent::SlurmStepKind::ReadJob;
  step.options = job;
  questions_.ask(*controller, std::move(step), std::move(reply));
}

// ---- users -----------------------------------------------------------------------------------------------------

void Engine::create(const reconcile::ClusterWish& wish, Created reply) {
  world_.steps.post([this, wish, reply = std::move(reply)] { reply(make(wish)); });
}

Result<ClusterId> Engine::make(const reconcile::ClusterWish& wish) {
  const auto& quotas = settings_.reconcile.quotas;
  if (auto ok = reconcile::check(wish, quotas, instances_of(wish.account, {})); !ok) return tl::unexpected(ok.error());
  if (auto ok = offered(wish.groups); !ok) return tl::unexpected(ok.error());
  reconcile::Changes changes;
  Random random = world_.new_random();
  const reconcile::Context now{world_.clock.now(), &random, world_.secret, &settings_.reconcile, 0};
  ClusterState state = reconcile::create(wish, now, changes.events);
  changes.cluster = true;
  for (const auto& [name, group] : state.groups) changes.groups.insert(name);
  const store::Commit commit = commit_of(state, changes);
  auto revision = world_.store.apply(commit);
  if (!revision && leaves_open(revision.error())) {
    revision = world_.store.apply(commit);
    // The id is new: only the first try can have made it.
    if (!revision && revision.error().code == ErrorCode::kConflict) revision = 1;
  }
  if (!revision && revision.error().code == ErrorCode::kExists)
    return fail(ErrorCode::kExists, "Cluster name {} is already in use in region {}", wish.name, wish.region);
  if (!revision) return tl::unexpected(revision.error());
  state.revision = *revision;
  const auto actor = std::make_shared<Actor>(std::move(state), world_.new_random());
  actor->last_event = actor->state.cluster.last_event;
  actor->instances = instances_wished(actor->state);
  add(actor);
  schedule(actor);
  return actor->id;
}

Result<void> Engine::has_image(const std::string& image) {
  const auto images = world_.provider.images();
  if (image.empty() || std::ranges::find(images, image) != images.end()) return {};
  return fail(ErrorCode::kInvalid, "there is no image {}; there are {}", image,
              images.empty() ? "none" : fmt::to_string(fmt::join(images, ", ")));
}

// Does the provider have these types and images at all?
Result<void> Engine::offered(const std::vector<reconcile::GroupWish>& groups) {
  for (const auto& group : groups) {
    auto types = group.instance_types;
    if (!group.instance_type.empty()) types.push_back(group.instance_type);
    for (const std::string& type : types)
      if (auto ok = world_.provider.offers(type); !ok)
        return fail(ErrorCode::kInvalid, "InstanceGroup {}: {}", group.name, ok.error().message);
    if (auto ok = has_image(group.image); !ok)
      return fail(ErrorCode::kInvalid, "InstanceGroup {}: {}", group.name, ok.error().message);
  }
  return {};
}

void Engine::ask_user(const ClusterId& cluster, reconcile::Input input, Actor::UserReply reply) {
  const ActorPtr actor = find_actor(cluster);
  bool there = actor != nullptr;
  if (there) {
    const std::lock_guard lock(actor->inbox_mutex);
    there = !actor->gone;
    if (there) {
      actor->inbox.push_back(std::move(input));
      actor->user_calls.push_back(std::move(reply));
    }
  }
  if (!there) return reply(fail(ErrorCode::kNotFound, "Cluster {} not found", cluster.value));
  schedule(actor);
}

void Engine::update(const ClusterId& cluster, const reconcile::ClusterChange& change, Changed reply) {
  if (auto ok = offered(change.groups); !ok) return reply(ok);
  ask_user(cluster, reconcile::UserChange{change}, without_answer(std::move(reply)));
}

void Engine::remove(const ClusterId& cluster, Changed reply) {
  ask_user(cluster, reconcile::UserDelete{}, without_answer(std::move(reply)));
}

void Engine::add_nodes(const ClusterId& cluster, const reconcile::AddNodes& request, NodesAdded reply) {
  ask_user(cluster, reconcile::UserAddsNodes{request}, with_answer<reconcile::AddNodesAnswer>(std::move(reply)));
}

void Engine::update_software(const ClusterId& cluster, const reconcile::UpdateSoftware& request, Changed reply) {
  reconcile::UpdateSoftware resolved = request;
  const auto images = world_.provider.images();
  if (resolved.image.empty() || resolved.image == "default") resolved.image = images.empty() ? "" : images.front();
  if (auto ok = has_image(resolved.image); !ok) return reply(ok);
  ask_user(cluster, reconcile::UserUpdatesSoftware{std::move(resolved)}, without_answer(std::move(reply)));
}

void Engine::act_on_nodes(const ClusterId& cluster, const reconcile::ActOnNodes& request, NodesActedOn reply) {
  ask_user(cluster, reconcile::UserActsOnNodes{request}, with_answer<reconcile::ActOnNodesAnswer>(std::move(reply)));
}

void Engine::check_health(const ClusterId& cluster, const reconcile::CheckHealth& request, Changed reply) {
  ask_user(cluster, reconcile::UserChecksHealth{request}, without_answer(std::move(reply)));
}

void Engine::await_event(const ClusterId& cluster, std::int64_t sequence, Millis wait, std::function<void()> ready) {
  const ActorPtr actor = find_actor(cluster);
  if (!actor || wait <= Millis(0)) return ready();
  {
    const std::lock_guard lock(actor->inbox_mutex);
    if (!actor->gone && actor->last_event <= sequence) {
      const auto timeout = std::make_shared<Timers::Id>(0);
      *timeout = world_.timers.schedule(world_.clock.now() + wait, [actor, timeout] { give_up(*actor, *timeout); });
      actor->event_waiters.push_back({sequence, std::move(ready), *timeout});
      return;
    }
  }
  ready();
}

// Called by the waiter's timer. It takes the lock first: the id is written by then.
void Engine::give_up(Actor& actor, const Timers::Id& timeout) {
  std::function<void()> ready;
  {
    const std::lock_guard lock(actor.inbox_mutex);
    const auto found = std::ranges::find(actor.event_waiters, timeout, &Actor::EventWaiter::timeout);
    if (found == actor.event_waiters.end()) return;
    ready = std::move(found->ready);
    actor.event_waiters.erase(found);
  }
  ready();
}

// ---- agents ----------------------------------------------------------------------------------------------------

void Engine::agent_enrols(const agent::Enrol& enrol, const std::string& certificate, EnrolReply reply) {
  const auto [cluster, slot] = owner_of(enrol.token);
  const ActorPtr actor = find_actor(cluster);
  if (!actor) return reply(fail(ErrorCode::kPermission, "this token is for no machine that is awaited"));
  reconcile::AgentEnrols input{slot, MachineId(enrol.machine_id), enrol.token, 0, enrol.slurm, certificate};
  {
    const std::lock_guard lock(actor->inbox_mutex);
    input.call = ++actor->last_enrol_call;
    actor->enrol_calls[input.call] = std::move(reply);
  }
  post(actor, std::move(input));
}

std::optional<MachineId> Engine::authenticate(const std::string& credential, const std::string& certificate) {
  const auto [cluster, slot_id] = owner_of(credential);
  const ActorPtr actor = find_actor(cluster);
  if (!actor) return std::nullopt;
  const bool elsewhere = agent::certificate_of(credential) != certificate;  // it was taken from its machine
  std::optional<MachineId> machine;
  bool renewed = false;
  {
    const std::lock_guard lock(actor->state_mutex);
    const auto slot = actor->state.slots.find(slot_id);
    if (slot == actor->state.slots.end() || !slot->second.machine) return std::nullopt;
    renewed = same_secret(slot->second.renewed, credential);
    if (!renewed && !same_secret(slot->second.credential, credential)) return std::nullopt;
    machine = slot->second.machine->id;
  }
  if (renewed || elsewhere) post(actor, reconcile::CredentialUsed{*machine, credential, elsewhere});
  return elsewhere ? std::nullopt : machine;
}

void Engine::agent_renews(const MachineId& machine, const std::string& certificate, EnrolReply reply) {
  const ActorPtr actor = actor_of(machine);
  if (!actor) return reply(fail(ErrorCode::kPermission, "this machine is no cluster's"));
  reconcile::AgentRenews input{machine, certificate, 0};
  {
    const std::lock_guard lock(actor->inbox_mutex);
    input.call = ++actor->last_enrol_call;
    actor->enrol_calls[input.call] = std::move(reply);
  }
  post(actor, std::move(input));
}

std::shared_ptr<const std::string> Engine::hosts(const MachineId& machine) {
  const ActorPtr actor = actor_of(machine);
  if (!actor) return nullptr;
  const std::lock_guard lock(actor->state_mutex);
  return actor->observed.hosts.encoded();
}

void Engine::agent_here(const MachineId& machine) { post_to_machine(machine, reconcile::AgentHere{machine}); }

void Engine::agent_reports(const MachineId& machine, agent::Report report) {
  for (auto& result : report.results)
    if (!questions_.answered(result)) post_to_machine(machine, reconcile::CommandDone{machine, std::move(result)});
  if (!report.nodes.empty()) post_to_machine(machine, reconcile::NodesSeen{machine, std::move(report.nodes)});
}

void Engine::agent_health(const MachineId& machine, agent::Health health) {
  post_to_machine(machine, reconcile::HealthSeen{machine, std::move(health)});
}

void Engine::agent_silent(const MachineId& machine, Time since) {
  post_to_machine(machine, reconcile::AgentSilent{machine, since});
}

void Engine::agent_back(const MachineId& machine) { post_to_machine(machine, reconcile::AgentBack{machine}); }

// ---- actors ----------------------------------------------------------------------------------------------------

void Engine::post(const ActorPtr& actor, reconcile::Input input) {
  {
    const std::lock_guard lock(actor->inbox_mutex);
    actor->inbox.push_back(std::move(input));
  }
  schedule(actor);
}

void Engine::post_to_machine(const MachineId& machine, reconcile::Input input) {
  if (const ActorPtr actor = actor_of(machine)) post(actor, std::move(input));
}

void Engine::schedule(const ActorPtr& actor) {
  const std::lock_guard lock(actor->inbox_mutex);
  if (actor->gone) return;
  actor->again = true;
  if (actor->scheduled) return;
  actor->scheduled = true;
  world_.steps.post([this, actor] { run(actor); });
}

void Engine::run(const ActorPtr& actor) {
  {
    const std::lock_guard lock(actor->inbox_mutex);
    actor->again = false;
  }
  if (!actor->decided) decide(*actor);
  if (commit(actor)) {
    reconcile::Output output = std::move(actor->decided->output);
    actor->decided.reset();
    publish(actor, std::move(output));
  }
  const std::lock_guard lock(actor->inbox_mutex);
  // What came in while the store failed waits in the inbox, and called for runs that could do nothing.
  const bool waiting = !actor->decided && !actor->inbox.empty();
  actor->scheduled = (actor->again || waiting) && !actor->gone;
  if (actor->scheduled) world_.steps.post([this, actor] { run(actor); });
}

reconcile::Context Engine::context(Actor& actor) {
  return {world_.clock.now(), &actor.random, world_.secret, &settings_.reconcile,
          instances_of(actor.state.cluster.account, actor.id)};
}

void Engine::decide(Actor& actor) {
  std::vector<reconcile::Input> inputs;
  {
    const std::lock_guard lock(actor.inbox_mutex);
    inputs.swap(actor.inbox);
  }
  const std::lock_guard lock(actor.state_mutex);
  Actor::Decided decided;
  decided.output = reconcile::step(actor.state, actor.observed, std::move(inputs), context(actor));
  decided.commit = commit_of(actor.state, decided.output.changes);
  actor.instances = instances_wished(actor.state);
  actor.decided = std::move(decided);
}

// True when what was decided is on disk. Otherwise it is kept and tried again: nothing goes out before.
bool Engine::commit(const ActorPtr& actor) {
  const reconcile::Changes& changes = actor->decided->output.changes;
  if (changes.none()) return true;
  {
    const std::lock_guard lock(actor->inbox_mutex);
    if (actor->retrying) return false;
  }
  const store::Commit& wanted = actor->decided->commit;
  auto revision = world_.store.apply(wanted);
  // Nobody else writes this cluster: an earlier try was stored, and its answer was lost.
  if (!revision && actor->decided->tried && revision.error().code == ErrorCode::kConflict)
    revision = wanted.expected_revision + 1;
  if (revision) {
    const std::lock_guard lock(actor->state_mutex);
    actor->state.revision = *revision;
    return true;
  }
  log::error("cluster {}: its state could not be stored, tried again in {} ms: {}", actor->state.cluster.name,
             kStoreRetry.count(), revision.error().message);
  refuse_users(*actor, revision.error());
  actor->decided->tried = actor->decided->tried || leaves_open(revision.error());
  const std::lock_guard lock(actor->inbox_mutex);
  actor->retrying = true;
  world_.timers.schedule(world_.clock.now() + kStoreRetry, [this, actor] {
    {
      const std::lock_guard inner(actor->inbox_mutex);
      actor->retrying = false;
    }
    schedule(actor);
  });
  return false;
}

void Engine::note_machines(const Actor& actor, const reconcile::Changes& changes) {
  const std::lock_guard lock(mutex_);
  for (const SlotId& id : changes.slots)
    if (const Slot& slot = actor.state.slots.at(id); slot.machine) cluster_of_machine_[slot.machine->id] = actor.id;
}

void Engine::publish(const ActorPtr& actor, reconcile::Output output) {
  note_machines(*actor, output.changes);
  for (reconcile::Effect& effect : output.effects) carry_out(actor, std::move(effect));
  std::vector<std::pair<Actor::UserReply, Result<reconcile::UserAnswer>>> answered;
  {
    const std::lock_guard lock(actor->inbox_mutex);
    const auto refused = std::min(output.user.size(), actor->refused);
    actor->refused -= refused;
    output.user.erase(output.user.begin(), output.user.begin() + static_cast<std::ptrdiff_t>(refused));
    for (Result<reconcile::UserAnswer>& result : output.user) {
      answered.emplace_back(std::move(actor->user_calls.front()), std::move(result));
      actor->user_calls.pop_front();
    }
    if (!output.changes.events.empty()) actor->last_event = output.changes.events.back().sequence;
    if (output.changes.removed) {
      actor->gone = true;
      for (Actor::UserReply& call : actor->user_calls)
        answered.emplace_back(std::move(call), fail(ErrorCode::kNotFound, "Cluster {} not found", actor->id.value));
      actor->user_calls.clear();
    }
  }
  if (output.changes.removed) forget(*actor);
  prune_events(*actor, output.changes);
  for (auto& [reply, result] : answered) reply(std::move(result));
  answer_event_waiters(*actor, output.changes.removed);
  wake_at(actor, output.wake);
}

// Users do not wait for a store that fails. What they asked for is kept and carried out when it can be stored.
void Engine::refuse_users(Actor& actor, const Error& cause) {
  std::deque<Actor::UserReply> refused;
  {
    const std::lock_guard lock(actor.inbox_mutex);
    refused.swap(actor.user_calls);
    actor.refused += refused.size();
  }
  for (Actor::UserReply& reply : refused)
    reply(fail(ErrorCode::kUnavailable, "the control plane cannot store it now and will carry it out when it can: {}",
               cause.message));
}

void Engine::prune_events(const Actor& actor, const reconcile::Changes& changes) {
  if (changes.removed || changes.events.empty()) return;
  const std::int64_t last = changes.events.back().sequence;
  const std::int64_t first = changes.events.front().sequence;
  if (last <= kEventsKept || last / 1000 == (first - 1) / 1000) return;
  if (auto pruned = world_.store.prune_events(actor.id, kEventsKept); !pruned)
    log::warn("cluster {}: its old events could not be removed: {}", actor.id.value, pruned.error().message);
}

void Engine::answer_event_waiters(Actor& actor, bool all) {
  std::vector<Actor::EventWaiter> ready;
  {
    const std::lock_guard lock(actor.inbox_mutex);
    auto due = [&](const Actor::EventWaiter& waiter) { return all || actor.last_event > waiter.sequence; };
    const auto rest = std::ranges::stable_partition(actor.event_waiters, [&](const auto& w) { return !due(w); });
    ready.assign(std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    actor.event_waiters.erase(rest.begin(), rest.end());
  }
  for (Actor::EventWaiter& waiter : ready) {
    world_.timers.cancel(waiter.timeout);
    waiter.ready();
  }
}

void Engine::wake_at(const ActorPtr& actor, std::optional<Time> time) {
  const std::lock_guard lock(actor->inbox_mutex);
  if (actor->wake_time == time) return;
  if (actor->wake_time) world_.timers.cancel(actor->wake);
  actor->wake_time = time;
  if (!time) return;
  actor->wake = world_.timers.schedule(*time, [this, actor] {
    {
      const std::lock_guard inner(actor->inbox_mutex);
      actor->wake_time.reset();
    }
    schedule(actor);
  });
}

// ---- effects ---------------------------------------------------------------------------------------------------

void Engine::list_machines(const ActorPtr& actor) {
  world_.provider_calls.post([this, actor] {
    auto listed = world_.provider.list(actor->id);
    if (listed) return post(actor, reconcile::MachinesListed{std::move(*listed)});
    log::warn("cluster {}: its machines could not be listed, tried again: {}", actor->id.value, listed.error().message);
    world_.timers.schedule(world_.clock.now() + Millis(1000), [this, actor] { list_machines(actor); });
  });
}

void Engine::fetch_scripts(const ActorPtr& actor, const std::string& uri) {
  const auto bundle = world_.scripts ? world_.scripts->fetch(uri) : fail(ErrorCode::kInvalid, "no scripts are served");
  if (bundle) world_.agents.offer(*bundle);
  auto digest = bundle ? Result<std::string>(bundle->digest) : tl::unexpected(bundle.error());
  post(actor, reconcile::ScriptsFetched{uri, std::move(digest)});
}

void Engine::carry_out(const ActorPtr& actor, reconcile::Effect effect) {
  struct Do {
    Engine& engine;
    const ActorPtr& actor;

    void operator()(reconcile::ListMachines&) const { engine.list_machines(actor); }
    void operator()(reconcile::Launch& launch) const {
      launch.request.user_data.control_plane = engine.settings_.agent_url;
      engine.launcher_.launch(actor->id, std::move(launch));
    }
    void operator()(const reconcile::Demand& demand) const { engine.launcher_.demand(actor->id, demand); }
    void operator()(reconcile::Terminate& terminate) const {
      engine.world_.agents.forget(terminate.machine);
      engine.world_.provider_calls.post([&e = engine, a = actor, machine = terminate.machine] {
        auto result = e.world_.provider.terminate(machine);
        e.world_.agents.forget(machine);
        e.post(a, reconcile::TerminateDone{machine, std::move(result)});
      });
    }
    void operator()(const reconcile::Reboot& reboot) const {
      engine.world_.provider_calls.post([&e = engine, a = actor, machine = reboot.machine] {
        e.post(a, reconcile::RebootDone{machine, e.world_.provider.reboot(machine)});
      });
    }
    void operator()(const reconcile::FetchScripts& fetch) const {
      engine.world_.provider_calls.post([&e = engine, a = actor, uri = fetch.uri] { e.fetch_scripts(a, uri); });
    }
    void operator()(reconcile::SendCommand& send) const {
      engine.world_.agents.send(send.machine, std::move(send.command));
    }
    void operator()(reconcile::EnrolAnswer& answer) const {
      EnrolReply reply;
      {
        const std::lock_guard lock(actor->inbox_mutex);
        const auto found = actor->enrol_calls.find(answer.call);
        if (found == actor->enrol_calls.end()) return;
        reply = std::move(found->second);
        actor->enrol_calls.erase(found);
      }
      reply(std::move(answer.credential));
    }
    void operator()(reconcile::RemoveVolumes&) const {
      engine.world_.provider_calls.post(
          [&e = engine, a = actor] { e.post(a, reconcile::VolumesRemoved{e.world_.provider.remove_volumes(a->id)}); });
    }
  };
  std::visit(Do{*this, actor}, effect);
}

}  // namespace espalier::engine
