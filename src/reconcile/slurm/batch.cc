#include "reconcile/slurm/batch.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "agent/slurm_text.h"
#include "reconcile/check/check.h"
#include "reconcile/events.h"
#include "reconcile/slurm/nodes.h"
#include "reconcile/slurm/ranks.h"
#include "reconcile/slurm/wanted.h"

namespace espalier::reconcile {

namespace {

using agent::SlurmStep;
using agent::SlurmStepKind;
using Names = std::set<std::string>;

SlurmStep update_nodes(const std::vector<std::string>& nodes, std::string state, std::string reason) {
  SlurmStep step;
  step.kind = SlurmStepKind::UpdateNodes;
  step.nodes = slurm::compress(nodes);
  step.state = std::move(state);
  step.reason = std::move(reason);
  return step;
}

// DOWN, and the address let go in the same call: the provider may give it to another machine after that.
SlurmStep release_nodes(const std::vector<std::string>& nodes, const std::string& reason) {
  SlurmStep step = update_nodes(nodes, "DOWN", reason);
  for (std::size_t i = 0; i < nodes.size(); ++i) step.address += (i == 0 ? "" : ",") + std::string(kNoAddress);
  return step;
}

SlurmStep read(SlurmStepKind kind) {
  SlurmStep step;
  step.kind = kind;
  return step;
}

SlurmStep partition(SlurmStepKind kind, const std::string& name, const std::string& nodes) {
  SlurmStep step;
  step.kind = kind;
  step.partition = name;
  step.nodes = nodes;
  return step;
}

SlurmStep move_nodes(const topology::Move& move) {
  SlurmStep step;
  step.kind = SlurmStepKind::UpdateNodes;
  step.nodes = move.nodes;
  step.topology = move.topology;
  return step;
}

// From 25.05 on nodes are moved one by one, and all topologies are shown.
bool moves_nodes(const Work& work) { return release_of(slurm_version(work.state.slurm)).topology_yaml; }

std::map<std::string, std::string> partition_topology(const SlurmWanted& wanted) {
  std::map<std::string, std::string> out;
  for (const auto& [name, model] : wanted.plan.partitions) out[name] = enum_name(model);
  return out;
}

Names all_nodes(const SlurmApplied& slurm) {
  Names names;
  for (const auto& [name, nodes] : slurm.partition_nodes)
    if (auto expanded = slurm::expand(nodes)) names.insert(expanded->begin(), expanded->end());
  return names;
}

// `nodes` without those that are not in `keep`.
std::string restrict_to(const std::string& nodes, const Names& keep) {
  std::vector<std::string> kept;
  for (auto& name : slurm::expand(nodes).value_or(std::vector<std::string>{}))
    if (keep.contains(name)) kept.push_back(std::move(name));
  return slurm::compress(kept);
}

SlurmStep write_files(const SlurmApplied& from, const SlurmApplied& to) {
  SlurmStep step;
  step.kind = SlurmStepKind::WriteFiles;
  for (const auto& [name, text] : to.files) {
    if (name == slurm::kSlurmConf) continue;  // the user's
    if (const auto old = from.files.find(name); old == from.files.end() || old->second != text)
      step.files.push_back({name, text, false});
  }
  for (const auto& [name, text] : from.files)
    if (!to.files.contains(name)) step.remove.push_back(name);
  if (from.files.empty())  // it is not known what is there
    for (const char* name : {slurm::kTopologyConf, slurm::kTopologyYaml})
      if (!to.files.contains(name)) step.remove.push_back(name);
  return step;
}

bool nothing_in(const SlurmStep& step) { return step.files.empty() && step.remove.empty(); }

// New slots are declared outside of every partition, set DOWN, and only then let in: in between, a waiting job would
// take live and absent nodes together and hold them for good. Nodes that go leave their partitions first.
std::vector<SlurmStep> steps_between(const Work& work, const SlurmApplied& from, const SlurmWanted& wanted) {
  const SlurmApplied& to = wanted.target;
  const auto topologies = partition_topology(wanted);
  const Names before = all_nodes(from);
  const Names after = all_nodes(to);
  std::vector<std::string> added;
  std::ranges::set_difference(after, before, std::back_inserter(added));

  std::vector<SlurmStep> steps;
  SlurmApplied middle = to;
  middle.partition_nodes.clear();
  for (const auto& [name, nodes] : from.partition_nodes) {
    const std::string kept = restrict_to(nodes, after);
    middle.partition_nodes[name] = kept;
    if (kept != nodes) steps.push_back(partition(SlurmStepKind::UpdatePartition, name, kept));
  }
  middle.files[slurm::kPartitionsConf] = slurm::render_partitions(middle.partition_nodes, topologies);
  if (SlurmStep files = write_files(from, middle); !nothing_in(files)) {
    steps.push_back(std::move(files));
    steps.push_back(read(SlurmStepKind::Reconfigure));
  }
  // One that an order which failed half-way had declared may be an admin's by now: it is out of use, and stays so.
  std::erase_if(added, [&](const std::string& node) { return !foreign_reason(work, node).empty(); });
  // Without an address: a slurmd that is quick may have registered its own by now.
  if (!added.empty()) steps.push_back(update_nodes(added, "DOWN", kWaiting));
  for (const auto& [name, nodes] : to.partition_nodes) {
    const auto old = middle.partition_nodes.find(name);
    if (old == middle.partition_nodes.end()) {
      steps.push_back(partition(SlurmStepKind::CreatePartition, name, nodes));
      if (const auto chosen = topologies.find(name); chosen != topologies.end())
        steps.back().options = "Topology=" + chosen->second;
    } else if (old->second != nodes) {
      steps.push_back(partition(SlurmStepKind::UpdatePartition, name, nodes));
    }
  }
  for (const auto& [name, nodes] : middle.partition_nodes)
    if (!to.partition_nodes.contains(name)) steps.push_back(partition(SlurmStepKind::DeletePartition, name, ""));
  if (SlurmStep files = write_files(middle, to); !nothing_in(files)) steps.push_back(std::move(files));
  return steps;
}

// An order on nodes reads these nodes back, an order on files everything.
void start(Work& work, const Slot& controller, Observed::Batch batch, const std::vector<std::string>& nodes = {}) {
  if (batch.whole()) {
    work.observed.read_at = work.now();
    batch.steps.push_back(read(SlurmStepKind::ReadTopology));
    batch.steps.back().options = moves_nodes(work) ? "topoconf" : "topology";
    batch.steps.push_back(read(SlurmStepKind::ReadPartitions));
  }
  batch.steps.push_back(read(SlurmStepKind::ReadNodes));
  batch.steps.back().nodes = slurm::compress(nodes);
  batch.sent = work.now();
  agent::Command command;
  command.slurm = batch.steps;
  batch.id = work.send(controller.machine->id, std::move(command));
  work.observed.batch = std::move(batch);
}

// What holds is what its own files made of it: to be confirmed, not to be judged.
Observed::Batch first_batch(const Work& work) {
  Observed::Batch batch;
  batch.first = true;
  batch.files = !work.state.slurm.pending;
  auto holds = std::make_shared<SlurmWanted>();
  holds->target = work.state.slurm;
  batch.wanted = std::move(holds);
  return batch;
}

// The first words to a slurmctld that has just come up with our files, or that a new run of ours meets: a question. An
// earlier run may have spoken to it, and an admin have acted since.
void start_first(Work& work, const Slot& controller) {
  Observed::Batch batch = first_batch(work);
  if (work.state.slurm.revision == 0) batch.files = false;  // not what it is to be yet
  start(work, controller, std::move(batch));
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// An admin's reason and drain stay with the node, whatever machine it gets; ours end here.
void add_releases(Work& work, std::vector<SlurmStep>& steps, const std::vector<std::string>& releases) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const std::string& node : releases) {
    const std::string foreign = foreign_reason(work, node);
    by_reason[foreign.empty() ? kWaiting : foreign].push_back(node);
  }
  for (const auto& [reason, nodes] : by_reason) steps.push_back(release_nodes(nodes, reason));
  if (const auto own = by_reason.find(kWaiting); own != by_reason.end())
    steps.push_back(update_nodes(own->second, "UNDRAIN", ""));
}

bool start_orders(Work& work, const Slot& controller) {
  Observed::Batch batch;
  const Orders orders = orders_due(work);
  std::vector<std::string> touched = orders.look;
  const auto add = [&](const std::vector<std::string>& nodes, const char* state, const std::string& reason) {
    if (!nodes.empty()) batch.steps.push_back(update_nodes(nodes, state, reason));
    append(touched, nodes);
  };
  add_releases(work, batch.steps, orders.release);
  append(touched, orders.release);
  add(orders.drain, "DRAIN", kDraining);
  add(orders.replace, "DRAIN", kReplacing);
  add(orders.admit, "IDLE", "");
  add(orders.check, "DRAIN", kChecking);
  add(orders.give_back, "UNDRAIN", "");
  for (const auto& [node, reason] : orders.keep_out) add({node}, "DRAIN", reason);
  if (touched.empty()) return false;
  start(work, controller, std::move(batch), touched);
  return true;
}

// What slurmctld has, as a start for what it should have. After an order whose outcome is not known, and when other
// hands have been in them, the files count as unknown: all are written anew. Nodes and partitions that were pending are
// those that were read back.
SlurmApplied known(const Work& work) {
  SlurmApplied known = work.state.slurm;
  if (known.pending || work.observed.strange) known.files.clear();
  if (known.pending) known.partition_nodes = work.observed.partitions;
  return known;
}

// After a failure, for a while; called again then.
bool must_wait(Work& work, const Observed::Retry& retry) {
  if (!retry.at || *retry.at <= work.now()) return false;
  work.wake_at(*retry.at);
  return true;
}

// Quiet time and longest wait: many machines that come together cost one reconfigure.
bool files_are_due(Work& work) {
  Observed& observed = work.observed;
  if (!observed.files_changed_at) observed.files_changed_at = work.now();
  const Time due = std::min(*observed.files_changed_at + work.settings().topology_quiet,
                            *observed.files_differ_since + work.settings().topology_longest);
  if (work.now() >= due) return true;
  work.wake_at(due);
  return false;
}

// What Slurm should be told, made again when something has changed; the bigger the cluster, the more seldom.
void make_wanted(Work& work) {
  Observed& observed = work.observed;
  SlurmWanted wanted = slurm_wanted(work.state, observed.shown);
  const bool same =
      observed.wanted && wanted.target == observed.wanted->target && wanted.places == observed.wanted->places;
  if (!same) observed.files_changed_at = work.now();
  observed.wanted = std::make_shared<SlurmWanted>(std::move(wanted));
  observed.patcher.reset();
}

// The same for a few machines that came, went or were located, without planning all the others again.
bool patch_wanted(Work& work) {
  Observed& observed = work.observed;
  if (observed.wanted_stale || !observed.wanted) return false;
  if (!observed.patcher)
    observed.patcher.emplace(*observed.wanted->request, observed.wanted->plan,
                             topology::Memory{observed.wanted->target.blocks});
  if (observed.wanted.use_count() > 1)  // a batch under way is judged by it as it was
    observed.wanted = std::make_shared<SlurmWanted>(*observed.wanted);
  const bool done = reconcile::patch_wanted(work.state, observed.moved, *observed.patcher, *observed.wanted);
  if (done) observed.files_changed_at = work.now();
  if (!done) observed.wanted.reset();
  return done;
}

void refresh_wanted(Work& work) {
  Observed& observed = work.observed;
  if (observed.wanted_is_new()) return;
  const Time due = observed.wanted_at + Millis(work.index().count() / 100);
  if (observed.wanted && work.now() < due) return work.wake_at(due);
  if (!patch_wanted(work)) make_wanted(work);
  observed.wanted_stale = false;
  observed.moved.clear();
  observed.imex_stale = true;
  observed.wanted_at = work.now();
}

// Everything but topology.yaml is as it should be.
bool only_places_differ(const Work& work, const SlurmWanted& wanted) {
  const SlurmApplied& slurm = work.state.slurm;
  if (slurm.pending || wanted.target.partition_nodes != slurm.partition_nodes) return false;
  const auto has_all = [](const auto& files, const auto& others) {
    return std::ranges::all_of(others, [&](const auto& item) {
      const auto found = files.find(item.first);
      return item.first == slurm::kTopologyYaml || (found != files.end() && found->second == item.second);
    });
  };
  return has_all(slurm.files, wanted.target.files) && has_all(wanted.target.files, slurm.files);
}

// The file first, so that a slurmctld that starts again knows every leaf; then each node that is elsewhere.
std::vector<SlurmStep> live_steps(const SlurmApplied& from, const SlurmWanted& wanted, const topology::Steps& steps) {
  std::vector<SlurmStep> out;
  if (SlurmStep files = write_files(from, wanted.target); !nothing_in(files)) out.push_back(std::move(files));
  for (const topology::Move& move : steps.moves) out.push_back(move_nodes(move));
  return out;
}

bool is_applied(const Work& work, const SlurmWanted& wanted) {
  const SlurmApplied& slurm = work.state.slurm;
  return !slurm.pending && wanted.target.files == slurm.files && wanted.target.partition_nodes == slurm.partition_nodes;
}

// After a refusal all: what slurmctld has saved may be of switches that are long gone.
std::vector<std::string> places_in_the_way(const Work& work, const SlurmWanted& wanted) {
  if (work.observed.batch_retry.failures == 0) return topology::lost_places(wanted.plan, work.observed.shown);
  std::vector<std::string> all;
  for (const auto& [node, place] : work.observed.places) all.push_back(node);
  return all;
}

// Slurm has an admin's hands on it too: it is looked at again from time to time, when there is nothing else to say; the
// bigger the cluster, the more seldom.
void look_again(Work& work, const Slot& controller) {
  const Time due = work.observed.read_at + work.settings().topology_look + Millis(10 * work.index().count());
  if (work.now() < due) return work.wake_at(due);
  Observed::Batch batch;
  batch.look = true;
  start(work, controller, std::move(batch));
}

// Slurmctld was seen to have all that is wanted.
bool nothing_differs(const Work& work, const SlurmWanted& wanted) {
  return is_applied(work, wanted) && !work.observed.strange && work.observed.places == wanted.places;
}

void note_nothing_differs(Work& work, const SlurmWanted& wanted) {
  work.observed.files_differ_since.reset();
  work.observed.files_changed_at.reset();
  if (work.observed.placed != wanted.machines) note_placed(work, wanted);
}

// Nodes change places; when it is time, all are ranked anew, and switches that are empty now leave slurmctld.
std::vector<SlurmStep> move_steps(Work& work, const SlurmWanted& wanted, const topology::Steps& moves, bool ranks) {
  auto steps = live_steps(known(work), wanted, moves);
  if (!steps.empty()) note_moved(work);
  if (ranks) steps.push_back(read(SlurmStepKind::Reconfigure));
  return steps;
}

std::vector<SlurmStep> reconfigure_steps(const Work& work, const SlurmWanted& wanted) {
  auto steps = steps_between(work, known(work), wanted);
  // The file is right, slurmctld is not.
  if (is_applied(work, wanted) && !work.observed.strange) steps.push_back(read(SlurmStepKind::Reconfigure));
  if (!moves_nodes(work)) return steps;
  if (const auto lost = places_in_the_way(work, wanted); !lost.empty())
    steps.insert(steps.begin(), move_nodes({slurm::compress(lost), "-"}));
  return steps;
}

void start_files(Work& work, const Slot& controller) {
  refresh_wanted(work);
  const SlurmWanted& wanted = *work.observed.wanted;
  const bool agrees = nothing_differs(work, wanted);
  if (agrees)
    note_nothing_differs(work, wanted);
  else if (!work.observed.files_differ_since)
    work.observed.files_differ_since = work.now();
  const bool ranks = ranks_are_due(work, wanted.plan);
  if (agrees && !ranks) return look_again(work, controller);
  Observed::Batch batch;
  batch.files = true;
  topology::Steps moves;
  if (moves_nodes(work) && only_places_differ(work, wanted)) {
    moves = topology::steps_to(wanted.plan, work.observed.shown);
    batch.live = moves.reconfigure.empty();
  }
  // A move costs next to nothing: only reconfigures are gathered.
  if (!batch.live && !files_are_due(work)) return;
  if (must_wait(work, work.observed.files_retry)) return;
  batch.ranks = batch.live && ranks;
  batch.steps = batch.live ? move_steps(work, wanted, moves, ranks) : reconfigure_steps(work, wanted);
  batch.wanted = work.observed.wanted;
  work.state.slurm.pending = true;  // stored before it is sent
  work.out.changes.slurm = true;
  start(work, controller, std::move(batch));
}

void note_failure(const Work& work, Observed::Retry& retry) {
  const auto pause = work.settings().slurm_retry_first * (1 << std::min(retry.failures++, 6));
  retry.at = work.now() + std::min(Millis(30'000), pause);
}

void fail_batch(Work& work, const Observed::Batch& batch, const std::string& why) {
  note_failure(work, work.observed.batch_retry);
  if (batch.files && !batch.first) note_failure(work, work.observed.files_retry);
  work.observed.slurm_read = false;  // it may have been carried out in part
  if (!batch.files || work.state.slurm.failure == why) return;
  work.state.slurm.failure = why;
  work.out.changes.slurm = true;
  cluster_event(work, EventLevel::Error, "Slurm configuration could not be applied: the last good one stays", why);
}

std::vector<SlurmStep> open_partitions(const SlurmApplied& slurm) {
  std::vector<SlurmStep> steps;
  for (const auto& [name, nodes] : slurm.partition_nodes) {
    steps.push_back(partition(SlurmStepKind::UpdatePartition, name, nodes));
    steps.back().options = "State=UP";
  }
  steps.push_back(read(SlurmStepKind::WriteFiles));
  steps.back().files.push_back({slurm::kPartitionsConf, slurm.files.at(slurm::kPartitionsConf), false});
  return steps;
}

// No job may land on what is declared and not there; then the partitions, closed until now, are opened. What was not
// seen may be an admin's: it is asked for again. An admin's node is out of use already, and stays so.
void shut_all(Work& work, const Slot& controller) {
  Observed::Batch batch = first_batch(work);
  std::vector<std::string> nodes;
  for (const std::string& node : all_nodes(work.state.slurm)) {
    if (!work.observed.slurm_nodes.contains(node)) {
      fail_batch(work, {}, "slurmctld does not show " + node);
      return work.wake_at(*work.observed.batch_retry.at);
    }
    if (foreign_reason(work, node).empty()) nodes.push_back(node);
  }
  if (!nodes.empty()) batch.steps.push_back(update_nodes(nodes, "DOWN", kWaiting));
  append(batch.steps, open_partitions(work.state.slurm));
  start(work, controller, std::move(batch));
}

void confirm_files(Work& work, const Observed::Batch& batch) {
  SlurmApplied& applied = work.state.slurm;
  const bool news = applied.revision == 0 || !applied.failure.empty() || applied.files != batch.wanted->target.files ||
                    applied.partition_nodes != batch.wanted->target.partition_nodes;
  if (!news) {
    if (applied.pending) work.out.changes.slurm = true;
    applied.pending = false;
    return;
  }
  const auto revision = applied.revision;
  const auto version = applied.version;
  applied = batch.wanted->target;
  applied.version = version;
  applied.revision = revision + 1;
  applied.since = work.now();
  applied.live = batch.live;
  applied.failure.clear();
  work.out.changes.slurm = true;
  cluster_event(work, EventLevel::Info,
                batch.live ? "Nodes were moved in Slurm's topology"
                           : "Slurm was reconfigured successfully. Slurm config updated to match desired state");
}

std::string first_failure(const agent::CommandResult& result) {
  for (std::size_t i = 0; i < result.steps.size(); ++i)
    if (!result.steps[i].ok) return result.steps[i].output;
  return result.error.empty() ? "no answer" : result.error;
}

std::map<std::string, std::string> read_partition_lines(const std::string& output) {
  std::map<std::string, std::string> partitions;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const auto bar = line.find('|');
    if (bar == std::string::npos) continue;
    auto nodes = slurm::expand(line.substr(bar + 1));
    partitions[line.substr(0, bar)] = nodes ? slurm::compress(*nodes) : "";
  }
  return partitions;
}

void find_forgotten(Work& work, Slot& slot) {
  if (!forgotten(work, slot) || !work.move(slot, Cause::kForgotten)) return;
  instance_event(work, slot, EventLevel::Warn,
                 fmt::format("Instance {} in Cluster {} and IG {} is no longer registered in Slurm: it joins again",
                             slot.machine->id.value, work.state.cluster.name, slot.group));
}

// The last steps of an order on files read topology, partitions and all nodes.
void read_back_all(Work& work, const agent::CommandResult& result) {
  auto shown = topology::read_shown(result.steps.end()[-3].output);
  work.observed.shown = shown ? std::move(*shown) : std::vector<topology::Shown>{};
  auto places = topology::places(work.observed.shown);
  if (places != work.observed.places) work.observed.wanted_stale = true;  // a leaf in use may be free now
  work.observed.places = std::move(places);
  work.observed.partitions = read_partition_lines(result.steps.end()[-2].output);
  work.observed.declared.clear();
  for (const auto& [name, list] : work.observed.partitions)
    if (auto nodes = slurm::expand(list)) work.observed.declared.insert(nodes->begin(), nodes->end());
  work.observed.slurm_read = true;
  // The other states hang on the batch that has ended now.
  for (const SlotState state : {SlotState::Booting, SlotState::Configuring, SlotState::Joining}) work.look_at(state);
}

void read_back(Work& work, const Observed::Batch& batch, const agent::CommandResult& result) {
  if (batch.whole()) read_back_all(work, result);
  const auto nodes = agent::parse_nodes(result.steps.back().output);
  if (batch.whole())
    on_all_nodes_seen(work, nodes);
  else
    on_nodes_seen(work, nodes);
  for (const agent::NodeView& view : nodes)
    if (const Slot* slot = work.slot_of_node(view.name); slot && slot->state != SlotState::Ready) {
      work.observed.looked_at[view.name] = batch.sent;
      work.observed.to_order.insert(slot->id);
    }
  for (const SlotId& id : std::exchange(work.observed.suspects, {}))
    if (Slot* slot = work.slot(id)) find_forgotten(work, *slot);
  for (const SlotState state : {SlotState::Checking, SlotState::Draining, SlotState::Terminating}) work.look_at(state);
}

bool awaits_answer(Work& work) {
  if (!work.observed.batch) return false;
  const Time latest = work.observed.batch->sent + work.settings().slurm_answer;
  if (work.now() < latest) {
    work.wake_at(latest);
    return true;
  }
  const Observed::Batch batch = std::move(*work.observed.batch);
  work.observed.batch.reset();
  fail_batch(work, batch, "the controller did not answer");
  return false;
}

// As a whole, and node by node.
Result<void> agrees_with(const Work& work, const SlurmWanted& wanted) {
  if (auto ok = topology::compare(wanted.plan, work.observed.shown); !ok) return ok;
  if (work.observed.places == wanted.places) return {};
  return fail(ErrorCode::kConflict, "slurmctld shows nodes in other places than planned");
}

// What an earlier run of ours has moved may not be ranked yet.
void note_ranks(Work& work, const Observed::Batch& batch) {
  if (batch.first && (work.state.slurm.live || work.state.slurm.pending)) note_moved(work);
  const bool reads_files =
      std::ranges::find(batch.steps, SlurmStepKind::Reconfigure, &SlurmStep::kind) != batch.steps.end();
  if (reads_files) note_ranked(work);
}

// Slurmctld was seen to have what was applied, and has not any more although nothing of ours has changed.
void note_other_hands(Work& work, bool planned) {
  Observed& observed = work.observed;
  if (!planned || !is_applied(work, *observed.wanted)) return;
  const auto agrees = agrees_with(work, *observed.wanted);
  if (agrees || observed.strange) return;
  observed.strange = true;
  cluster_event(work, EventLevel::Warn, "Slurm's topology is no longer what was applied: it is put back",
                agrees.error().message);
}

}  // namespace

void decide_batch(Work& work) {
  Slot* controller = work.ready_controller();
  if (!controller || work.ending() || awaits_answer(work)) return;
  if (must_wait(work, work.observed.batch_retry)) return;
  if (!work.observed.slurm_read) return start_first(work, *controller);
  if (work.state.slurm.revision == 0) return shut_all(work, *controller);
  if (!start_orders(work, *controller)) start_files(work, *controller);
}

void on_batch_done(Work& work, const agent::CommandResult& result) {
  if (!work.observed.batch || work.observed.batch->id != result.id) return;
  const Observed::Batch batch = std::move(*work.observed.batch);
  work.observed.batch.reset();
  if (!result.ok || result.steps.size() != batch.steps.size()) return fail_batch(work, batch, first_failure(result));

  const bool planned = work.observed.wanted_is_new();
  read_back(work, batch, result);
  if (batch.look) note_other_hands(work, planned);
  const bool judged = batch.files && !batch.first;
  const auto agrees = judged ? agrees_with(work, *batch.wanted) : Result<void>{};
  // Places that were set live outlast a reconfigure: those that are others now are set next.
  const bool moves_lead_there = judged && moves_nodes(work) && !batch.live &&
                                topology::steps_to(batch.wanted->plan, work.observed.shown).reconfigure.empty();
  if (!agrees && !moves_lead_there) return fail_batch(work, batch, agrees.error().message);
  work.observed.batch_retry = {};
  if (judged) work.observed.files_retry = {};
  note_ranks(work, batch);
  if (batch.files) confirm_files(work, batch);
  if (!judged || !agrees) return;
  work.observed.strange = false;
  note_placed(work, *batch.wanted);
}

void update_watch(Work& work) {
  Observed& observed = work.observed;
  Slot* controller = work.ready_controller();
  if (!controller || work.ending() || !observed.slurm_read) return;
  const auto version = work.index().version(SlotState::Joining) + work.index().version(SlotState::Checking) +
                       work.index().version(SlotState::Draining);
  if (observed.watch_version == version) return;
  const Time due = observed.watched_at + Millis(work.index().count() / 100);
  if (work.now() < due) return work.wake_at(due);
  observed.watch_version = version;
  observed.watched_at = work.now();
  std::string nodes = slurm::compress(to_watch(work));
  if (nodes == observed.watching) return;
  observed.watching = nodes;
  agent::Command command;
  command.watch = std::move(nodes);
  work.send(controller->machine->id, std::move(command));
}

}  // namespace espalier::reconcile
