// The core: one step of one cluster. Pure: no I/O, no clock, no threads.
//
// step() takes what has been learned since the last step, changes the state in place, and says which rows changed, what
// happened (events), what is to be done in the world (effects) and when to call again. The engine stores the changes
// first and hands out the effects after; nothing that is lost in a crash between the two is missed, because every
// effect can be derived from the state again: intent is in the row before the effect is carried out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "agent/health.h"
#include "agent/protocol.h"
#include "base/random.h"
#include "base/result.h"
#include "model/cluster.h"
#include "model/launch.h"
#include "reconcile/hosts.h"
#include "reconcile/index.h"
#include "reconcile/pools.h"
#include "reconcile/repair/decide.h"
#include "reconcile/request.h"
#include "reconcile/slot/life.h"
#include "reconcile/slurm/wanted.h"
#include "reconcile/wish.h"
#include "topology/plan.h"

namespace espalier::reconcile {

// ---- what is learned -------------------------------------------------------------------------------------------
struct UserChange {
  ClusterChange change;
};
struct UserDelete {};
struct UserAddsNodes {
  AddNodes request;
};
struct UserActsOnNodes {
  ActOnNodes request;
};
struct UserUpdatesSoftware {
  UpdateSoftware request;  // with an image that the provider has
};
struct UserChecksHealth {
  CheckHealth request;
};
struct MachinesListed {
  std::vector<ProvidedMachine> machines;  // all of this cluster
};
struct LaunchDone {
  SlotId slot;
  std::string key;
  LaunchOutcome outcome;
};
struct TerminateDone {
  MachineId machine;
  Result<void> result;
};
struct MachineExited {
  MachineId machine;
};
struct AgentEnrols {
  SlotId slot;
  MachineId machine;
  std::string token;
  std::int64_t call = 0;      // named again in EnrolAnswer
  std::string slurm{};        // see agent::Enrol
  std::string certificate{};  // fingerprint of the one that the machine showed
};
struct AgentRenews {  // its certificate, and with it its credential
  MachineId machine;
  std::string certificate;  // fingerprint of the next one
  std::int64_t call = 0;    // as in AgentEnrols
};
struct CredentialUsed {  // a renewed one, for the first time: the one before it ends
  MachineId machine;
  std::string credential;
  bool elsewhere = false;  // any, with a certificate that is not its machine's: it was refused
};
struct AgentHere {  // it called for the first time since it or the control plane started
  MachineId machine;
};
struct CommandDone {
  MachineId machine;
  agent::CommandResult result;
};
struct NodesSeen {
  MachineId machine;  // the controller
  std::vector<agent::NodeView> nodes;
};
struct HealthSeen {  // what the machine says of itself has changed
  MachineId machine;
  agent::Health health;
};
struct AgentSilent {  // nothing was heard of it since then, although we listened
  MachineId machine;
  Time since{};
};
struct AgentBack {
  MachineId machine;
};
struct RebootDone {
  MachineId machine;
  Result<void> result;
};
struct ScriptsFetched {
  std::string uri;
  Result<std::string> digest;
};
struct Granted {  // the pool gives the group so many launches
  std::string group;
  std::string pool;
  int count = 0;
};
struct PoolSeen {  // the pool has been closed, or (without a value) opened again
  std::string pool;
  std::optional<PoolClosed> closed;
};
struct VolumesRemoved {
  Result<void> result;
};
using Input = std::variant<UserChange, UserDelete, UserAddsNodes, UserActsOnNodes, UserUpdatesSoftware,
                           UserChecksHealth, MachinesListed, LaunchDone, TerminateDone, MachineExited, AgentEnrols,
                           AgentRenews, CredentialUsed, AgentHere, CommandDone, NodesSeen, HealthSeen, AgentSilent,
                           AgentBack, RebootDone, ScriptsFetched, Granted, PoolSeen, VolumesRemoved>;

// ---- what is to be done ----------------------------------------------------------------------------------------
struct ListMachines {};
struct Demand {  // the group waits for so many machines of the pool; see Pools::demand
  std::string group;
  std::string pool;
  int count = 0;
  int returned = 0;
  bool controller = false;
};
struct Launch {
  std::string pool;
  LaunchRequest request;
};
struct Terminate {
  MachineId machine;
};
struct Reboot {
  MachineId machine;
};
struct FetchScripts {
  std::string uri;
};
struct SendCommand {
  MachineId machine;
  agent::Command command;  // sequence is the hub's
};
struct EnrolAnswer {
  std::int64_t call = 0;
  Result<std::string> credential;
};
struct RemoveVolumes {};
using Effect = std::variant<ListMachines, Demand, Launch, Terminate, Reboot, FetchScripts, SendCommand, EnrolAnswer,
                            RemoveVolumes>;

// Which rows changed, for the store.
struct Changes {
  bool cluster = false;
  bool slurm = false;
  bool removed = false;  // the cluster is gone
  std::set<std::string> groups;
  std::set<std::string> dropped_groups;
  std::set<SlotId> slots;
  std::set<SlotId> dropped_slots;
  std::vector<Event> events;
  [[nodiscard]] bool none() const;
};

struct Settings {
  Deadlines deadlines;
  PoolSettings pools;
  Delays machine{Millis(1000), Millis(30'000)};        // after a slot's machine that failed by itself
  Delays canary{Millis(30'000), Millis(30 * 60'000)};  // between the single tries of a group that is slowed down
  int breaker = 3;  // machines of a group that in a row did not become Ready: from then on one is tried at a time
  Millis unplaced_after{60'000};  // a position still unknown then: the node is used from the leaf `unplaced`
  Millis topology_quiet{100};     // Slurm's files are written when nothing changed for so long …
  Millis topology_longest{1000};  // … or this long after the first change
  Millis ranks_quiet{200};        // the same for a reconfigure that only ranks anew the nodes that were moved
  Millis ranks_longest{2000};
  Millis topology_look{60'000};          // slurmctld is read so often, whoever else may change it
  Millis hosts_quiet{100};               // the same for /etc/hosts of all machines
  Millis slurm_answer{180'000};          // an order to slurmctld that is not answered by then is taken for lost
  Millis call_again_after{5000};         // a slurmd that has not registered by then is asked to, again and again
  Millis slurm_retry_first{500};         // after a failed application; doubles up to 30 s
  Millis minimum_wait{3 * 3600 * 1000};  // for MinInstanceCount
  Millis whole_wait{20 * 60'000};        // for all of a change, when it is all or nothing
  Millis unknown_kept{120'000};          // a slot that nobody wants any more, after a launch whose outcome is not known
  Millis relist{5 * 60'000};             // the provider's machines are compared with the slots so often
  Millis list_lag{60'000};               // a list may show what was so long ago
  RepairSettings repair;
  Millis check_busy{10 * 60'000};       // a deep health check waits so long for a node's jobs to end
  Millis check_gather{5 * 60'000};      // … and for new machines of its group, to be tried with each other
  Millis check_limit{2 * 3600 * 1000};  // then its programs are killed
  Millis check_answer{60'000};          // … and so much later its answer is given up
  Millis credential_life{0};            // then an agent is told to renew its credential; 0: never
  bool scripts = false;                 // lifecycle scripts can be fetched, and are run
  Millis script_time_limit{30 * 60'000};
  int script_tries = 3;                         // on one machine
  Delays script{Millis(5000), Millis(60'000)};  // between them, and between tries to fetch
  Quotas quotas;
};

struct Context {
  Time now{};
  Random* random = nullptr;
  std::function<std::string(int bytes)> secret;  // as hex; the kernel's in `serve`, seeded in the simulation
  const Settings* settings = nullptr;
  int instances_elsewhere = 0;  // of the account's other clusters, for quotas
};

// What is known of the world and not stored: after a restart it is learned again.
struct Observed {
  Index index;
  Agenda agenda;
  std::optional<SlotId> controller;

  struct Missing {
    int lists = 0;  // that lacked it, each asked for long enough after the one before
    Time at{};      // of the last of these
  };
  bool listed = false;                        // the provider's machines have been seen: launches may go out
  bool listing = false;                       // asked for
  std::set<SlotId> launching;                 // calls under way
  std::set<MachineId> terminating;            // calls under way
  std::set<MachineId> strangers;              // run for the cluster, and no slot has them: not yet terminated
  std::map<MachineId, Time> terminate_after;  // a failed terminate is tried again then
  std::map<MachineId, SlotId> slot_of_machine;
  std::set<MachineId> exited;                    // machines that ended before their launch was known
  std::map<MachineId, Missing> missing;          // not in the last list although a slot has it
  Time list_asked{};                             // when the last list was asked for
  Time list_known{};                             // the same of the last that has been answered
  std::optional<Time> list_at;                   // list again then
  std::set<MachineId> agents;                    // those that have called
  std::map<SlotId, Time> enrolment_refused;      // when an event last said so
  std::map<MachineId, std::string> setup_sent;   // machine → id of the command under way
  std::set<MachineId> rebooting;                 // calls under way
  std::map<MachineId, std::string> checks_sent;  // machine → id of the command under way
  std::map<MachineId, Time> renewals;            // when its agent is told again

  // Health.
  struct Sick {
    MachineId machine;
    Fault fault;
  };
  std::map<MachineId, agent::Health> health;
  std::map<MachineId, Time> silent;  // since when
  std::map<SlotId, Sick> sick;
  Time sick_round{};  // they are looked at again then

  // Lifecycle scripts.
  struct Scripts {
    std::string digest;  // "": not fetched yet
    Time at{};           // when
    bool fetching = false;
    int failures = 0;
    std::string error;
    std::optional<Time> retry;
  };
  struct ScriptTries {
    int failures = 0;
    Time next{};
  };
  std::map<std::string, Scripts> scripts;  // by address
  std::map<MachineId, ScriptTries> script_tries;

  bool volumes_requested = false;
  std::optional<Time> volumes_retry;

  // Pools.
  struct Asked {
    int count = 0;     // as the pool was last told
    int returned = 0;  // of its grants, to be told
  };
  std::map<std::pair<std::string, std::string>, Asked> asked;  // by group and pool
  std::map<std::string, PoolClosed> closed_pools;

  // Slurm, single flight.
  struct Batch {
    std::string id;
    Time sent{};
    bool first = false;                         // only reads what slurmctld has
    bool files = false;                         // applies files and topology
    bool live = false;                          // … without a reconfigure: nodes change places, no more
    bool ranks = false;                         // … or with one that only ranks them anew
    bool look = false;                          // only looks whether slurmctld still has what was applied
    std::shared_ptr<const SlurmWanted> wanted;  // what holds when it succeeds
    std::vector<agent::SlurmStep> steps;
    [[nodiscard]] bool whole() const { return first || files || look; }  // reads everything back
  };
  std::map<std::string, agent::NodeView> slurm_nodes;  // as slurmctld shows them
  bool slurm_read = false;                             // nodes and topology were read back since it is up
  std::optional<Batch> batch;
  std::map<std::string, Time> looked_at;          // nodes that leave: when the order was sent that read them
  std::set<SlotId> to_order;                      // something has happened to them: they may wait for an order
  std::set<SlotId> suspects;                      // seem to be forgotten: to be looked at once more
  std::map<std::string, std::string> partitions;  // partition → host list, as slurmctld was last seen to have it
  std::unordered_set<std::string> declared;       // the nodes of those partitions
  std::map<SlotId, Time> unseen;                  // of slots that leave, without a line of slurmctld's: read again then
  struct ImexSent {
    std::size_t list = 0;  // hash of it
    std::string command;   // not answered yet; "": it was
    bool failed = false;   // … that it could not be written
  };
  std::map<MachineId, ImexSent> imex_sent;       // the list of its NVLink domain's nodes that a machine was last sent
  bool imex_stale = false;                       // those lists may be others now
  std::optional<Time> imex_retry;                // those that could not be written are sent again then
  std::vector<topology::Shown> shown;            // the topologies that slurmctld was last seen to have
  std::map<std::string, std::string> places;     // node → "tree:leaf7,block:b3", of these
  std::unordered_map<SlotId, MachineId> placed;  // slots whose machine's place slurmctld was seen to have right
  std::optional<Time> unranked_since;            // nodes were moved since slurmctld has ranked all, first then
  Time moved_at{};                               // … and last then
  std::unordered_set<SlotId> unranked;           // slots that were placed by that
  std::map<SlotId, Time> called_again;           // slots whose slurmd was asked to register again
  Time read_at{};                                // when all of slurmctld was last asked for
  bool strange = false;                          // it has another topology than was applied: other hands
  std::string watching;                          // host list that the controller's agent watches closely
  std::uint64_t watch_version = 0;               // of the index, when that was made
  Time watched_at{};

  // What Slurm should be told, made again when the rows that it depends on have changed.
  std::shared_ptr<SlurmWanted> wanted;       // patched in place while no batch has it
  bool wanted_stale = true;                  // make it anew
  std::set<SlotId> moved;                    // compute slots whose machines came, went or were located since
  std::optional<topology::Patcher> patcher;  // of `wanted`, once it was needed
  [[nodiscard]] bool wanted_is_new() const { return wanted && !wanted_stale && moved.empty(); }
  Time wanted_at{};                        // when it was made
  std::optional<Time> files_differ_since;  // the first difference that is not applied yet
  std::optional<Time> files_changed_at;    // the last change of what is wished for
  struct Retry {
    int failures = 0;
    std::optional<Time> at;
  };
  Retry batch_retry;
  Retry files_retry;  // of orders on files: they do not hold up those on nodes

  // /etc/hosts.
  HostsBook hosts;
  bool hosts_stale = true;
  Time hosts_at{};  // when they were made
  std::optional<Time> hosts_changed_at;
  std::map<MachineId, std::int64_t> hosts_sent;  // the version that the machine was last sent
};

struct Output {
  Changes changes;
  std::vector<Effect> effects;
  std::optional<Time> wake;              // call again then, even without input
  std::vector<Result<UserAnswer>> user;  // one for every input of a user's, in their order
};

// The state of a new cluster, with its first events. `wish` has passed check().
ClusterState create(const ClusterWish& wish, const Context& context, std::vector<Event>& events);

Output step(ClusterState& state, Observed& observed, std::vector<Input> inputs, const Context& context);

}  // namespace espalier::reconcile
