// The shell around reconcile: one actor a cluster, driven by what comes from users, agents, the provider and time.
//
// drain the inbox → step → one transaction → hand out effects. Provider calls block and run on a pool of their own;
// their answers come back into the inbox. The engine decides nothing.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "base/executor.h"
#include "engine/actor.h"
#include "engine/agent_hub.h"
#include "engine/clusters.h"
#include "engine/launcher.h"
#include "engine/questions.h"
#include "provider/provider.h"
#include "provider/scripts.h"

namespace espalier::engine {

// All must outlive the engine's last task: stop the executors and timers first.
struct World {
  Clock& clock;
  Executor& steps;           // runs actors
  Executor& provider_calls;  // runs what blocks: list, terminate, remove volumes
  Timers& timers;
  store::Store& store;
  Provider& provider;
  AgentHub& agents;
  std::function<Random()> new_random = Random::from_system;
  std::function<std::string(int)> secret = secret_hex;
  Executor* launches = nullptr;     // of their own, since they may take minutes; null: with the other calls
  ScriptSource* scripts = nullptr;  // null: lifecycle scripts are not run
};

struct Settings {
  reconcile::Settings reconcile;
  std::string agent_url;            // where machines reach the agents' listener, as agent/http_client.h reads it
  Millis launch_deadline{600'000};  // a launch that is not answered by then has an unknown outcome
};

class Engine final : public Clusters, public AgentListener {
 public:
  Engine(World world, Settings settings);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  // Loads every cluster and takes up its work: the provider is listed before anything is launched.
  Result<void> start();
  // Logs which machines run for clusters that the store does not know. Asks the provider: blocks.
  void warn_of_strangers();
  // A pool has changed: whoever waits for it tries again at once.
  void capacity_changed() { launcher_.reopen(); }

  // Clusters
  void create(const reconcile::ClusterWish& wish, Created reply) override;
  void update(const ClusterId& cluster, const reconcile::ClusterChange& change, Changed reply) override;
  void remove(const ClusterId& cluster, Changed reply) override;
  void add_nodes(const ClusterId& cluster, const reconcile::AddNodes& request, NodesAdded reply) override;
  void update_software(const ClusterId& cluster, const reconcile::UpdateSoftware& request, Changed reply) override;
  void check_health(const ClusterId& cluster, const reconcile::CheckHealth& request, Changed reply) override;
  void act_on_nodes(const ClusterId& cluster, const reconcile::ActOnNodes& request, NodesActedOn reply) override;
  Result<ClusterId> find(const std::string& account, const std::string& region,
                         const std::string& name_or_arn) override;
  std::vector<ClusterId> list(const std::string& account, const std::string& region) override;
  Result<void> read(const ClusterId& cluster, const std::function<void(const View&)>& reader) override;
  void read_job(const ClusterId& cluster, const std::string& job, JobRead reply) override;
  Result<std::vector<Event>> events(const store::EventQuery& query) override { return world_.store.events(query); }
  Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& event_id) override {
    return world_.store.event(cluster, event_id);
  }
  void await_event(const ClusterId& cluster, std::int64_t sequence, Millis wait, std::function<void()> ready) override;

  // AgentListener
  void agent_enrols(const agent::Enrol& enrol, const std::string& certificate, EnrolReply reply) override;
  std::optional<MachineId> authenticate(const std::string& credential, const std::string& certificate) override;
  void agent_renews(const MachineId& machine, const std::string& certificate, EnrolReply reply) override;
  std::shared_ptr<const std::string> hosts(const MachineId& machine) override;
  void agent_here(const MachineId& machine) override;
  void agent_reports(const MachineId& machine, agent::Report report) override;
  void agent_health(const MachineId& machine, agent::Health health) override;
  void agent_silent(const MachineId& machine, Time since) override;
  void agent_back(const MachineId& machine) override;

 private:
  using ActorPtr = std::shared_ptr<Actor>;
  using Name = std::tuple<std::string, std::string, std::string>;  // account, region, name

  ActorPtr find_actor(const ClusterId& id);
  ActorPtr actor_of(const MachineId& machine);
  std::vector<ActorPtr> all_actors();
  int instances_of(const std::string& account, const ClusterId& except);
  void add(const ActorPtr& actor);
  void forget(const Actor& actor);
  Result<void> offered(const std::vector<reconcile::GroupWish>& groups);
  Result<void> has_image(const std::string& image);
  Result<ClusterId> make(const reconcile::ClusterWish& wish);
  void ask_user(const ClusterId& cluster, reconcile::Input input, Actor::UserReply reply);

  void post(const ActorPtr& actor, reconcile::Input input);
  void post_to_machine(const MachineId& machine, reconcile::Input input);
  void schedule(const ActorPtr& actor);
  void run(const ActorPtr& actor);
  void decide(Actor& actor);
  bool commit(const ActorPtr& actor);
  void publish(const ActorPtr& actor, reconcile::Output output);
  void note_machines(const Actor& actor, const reconcile::Changes& changes);
  void wake_at(const ActorPtr& actor, std::optional<Time> time);
  void refuse_users(Actor& actor, const Error& cause);
  void prune_events(const Actor& actor, const reconcile::Changes& changes);
  static void give_up(Actor& actor, const Timers::Id& timeout);
  void answer_event_waiters(Actor& actor, bool all);
  void carry_out(const ActorPtr& actor, reconcile::Effect effect);
  void end_orphan(const MachineId& machine);
  void list_machines(const ActorPtr& actor);
  void fetch_scripts(const ActorPtr& actor, const std::string& uri);
  reconcile::Context context(Actor& actor);

  World world_;
  const Settings settings_;
  Launcher launcher_;
  Questions questions_;
  std::mutex mutex_;
  std::map<ClusterId, ActorPtr> actors_;
  std::map<Name, ClusterId> names_;
  std::map<MachineId, ClusterId> cluster_of_machine_;
};

}  // namespace espalier::engine
