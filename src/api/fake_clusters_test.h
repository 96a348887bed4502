// An engine with memory for the API's tests: keeps what is created, starts no machine. Tests change `states` as they
// need.
#pragma once

#include <algorithm>

#include "engine/clusters.h"
#include "reconcile/cluster/tags.h"

namespace espalier::api {

class FakeClusters final : public engine::Clusters {
 public:
  std::map<ClusterId, ClusterState> states;
  std::map<std::string, agent::NodeView> slurm_nodes;
  std::map<MachineId, agent::Health> health;
  std::map<ClusterId, std::vector<Event>> all_events;
  reconcile::Quotas quotas;
  std::vector<reconcile::ClusterChange> changes;  // that update() was given
  std::vector<reconcile::AddNodes> additions;
  Result<reconcile::AddNodesAnswer> add_answer;
  std::vector<reconcile::UpdateSoftware> software_updates;
  std::vector<reconcile::CheckHealth> checks;
  Result<void> check_answer;
  std::vector<reconcile::ActOnNodes> actions;
  Result<reconcile::ActOnNodesAnswer> act_answer;
  std::function<void()> waiting;            // of await_event
  std::map<std::string, std::string> jobs;  // id → what slurmctld shows
  reconcile::TopologyTruth truth{true, {}, {}};
  Time now{Millis(1'767'225'600'250)};

  void create(const reconcile::ClusterWish& wish, Created reply) override { reply(make(wish)); }
  void update(const ClusterId& id, const reconcile::ClusterChange& change, Changed reply) override {
    auto ok = reconcile::check(change, states.at(id), quotas, 0);
    if (ok) changes.push_back(change);
    if (ok && change.topology) states.at(id).cluster.topology = *change.topology;
    auto& spec = states.at(id).cluster.spec;
    if (auto tags = reconcile::changed_tags(spec, change); ok && tags)
      spec["Tags"] = reconcile::to_wire(*tags);
    else if (ok)
      ok = tl::unexpected(tags.error());
    reply(ok);
  }
  void remove(const ClusterId& id, Changed reply) override {
    states.at(id).cluster.status = ClusterStatus::Deleting;
    reply({});
  }
  void add_nodes(const ClusterId&, const reconcile::AddNodes& request, NodesAdded reply) override {
    additions.push_back(request);
    reply(add_answer);
  }
  void update_software(const ClusterId& id, const reconcile::UpdateSoftware& request, Changed reply) override {
    if (states.at(id).cluster.status == ClusterStatus::Deleting)
      return reply(fail(ErrorCode::kConflict, "The cluster is being deleted"));
    software_updates.push_back(request);
    reply({});
  }
  void check_health(const ClusterId&, const reconcile::CheckHealth& request, Changed reply) override {
    checks.push_back(request);
    reply(check_answer);
  }
  void act_on_nodes(const ClusterId&, const reconcile::ActOnNodes& request, NodesActedOn reply) override {
    actions.push_back(request);
    reply(act_answer);
  }
  Result<ClusterId> make(const reconcile::ClusterWish& wish) {
    if (find(wish.account, wish.region, wish.name))
      return fail(ErrorCode::kExists, "Cluster {} exists already", wish.name);
    if (auto ok = reconcile::check(wish, quotas, 0); !ok) return tl::unexpected(ok.error());
    const ClusterId id(fmt::format("{:0>12}", states.size() + 1));
    auto& state = states[id];
    auto& cluster = state.cluster;
    cluster.id = id;
    cluster.name = wish.name;
    cluster.region = wish.region;
    cluster.account = wish.account;
    cluster.created_at = now;
    cluster.node_recovery = wish.node_recovery;
    cluster.spec = wish.spec;
    for (const auto& group : wish.groups) add_group(state, group);
    now += Millis(1000);
    return id;
  }
  Result<ClusterId> find(const std::string& account, const std::string& region, const std::string& name) override {
    for (const auto& [id, state] : states) {
      const auto& cluster = state.cluster;
      if (cluster.account == account && cluster.region == region && (cluster.name == name || arn_of(cluster) == name))
        return id;
    }
    return fail(ErrorCode::kNotFound, "There is no cluster '{}' in {}", name, region);
  }
  std::vector<ClusterId> list(const std::string& account, const std::string& region) override {
    std::vector<ClusterId> out;
    for (const auto& [id, state] : states)
      if (state.cluster.account == account && state.cluster.region == region) out.push_back(id);
    return out;
  }
  Result<void> read(const ClusterId& id, const std::function<void(const engine::View&)>& reader) override {
    const auto found = states.find(id);
    if (found == states.end()) return fail(ErrorCode::kNotFound, "The cluster is gone");
    reconcile::Index index;
    index.build(found->second);
    const auto slot_of = [&](const MachineId& machine) -> const Slot* {
      for (const auto& [slot_id, slot] : found->second.slots)
        if (slot.machine && slot.machine->id == machine) return &slot;
      return nullptr;
    };
    const auto wanted = reconcile::slurm_wanted(found->second, {});
    reader(engine::View{found->second, index, slot_of, slurm_nodes, health, [this] { return truth; },
                        [&]() -> const reconcile::SlurmWanted& { return wanted; },
                        [](const Slot&) { return reconcile::Explanation{"no reason", "nothing", {}}; },
                        [](const Slot& slot) { return slot.next_try; }});
    return {};
  }
  void read_job(const ClusterId&, const std::string& job, JobRead reply) override {
    reply(jobs.contains(job) ? Result<std::string>(jobs.at(job)) : fail(ErrorCode::kNotFound, "Invalid job id"));
  }
  Result<std::vector<Event>> events(const store::EventQuery& query) override {
    std::vector<Event> out;
    for (const auto& event : all_events[query.cluster])
      if (matches(event, query)) out.push_back(event);
    if (!query.ascending) std::reverse(out.begin(), out.end());
    if (out.size() > static_cast<std::size_t>(query.limit)) out.resize(static_cast<std::size_t>(query.limit));
    return out;
  }
  Result<std::optional<Event>> event(const ClusterId& id, const std::string& event_id) override {
    for (const auto& event : all_events[id])
      if (event.id == event_id) return std::optional(event);
    return std::optional<Event>();
  }
  void await_event(const ClusterId&, std::int64_t, Millis, std::function<void()> ready) override {
    waiting = std::move(ready);
  }

  Event& add_event(const ClusterId& id, std::string description) {
    auto& events = all_events[id];
    Event event;
    event.sequence = static_cast<std::int64_t>(events.size()) + 1;
    event.id = fmt::format("{:08}-0000-4000-8000-000000000000", event.sequence);
    event.time = now + Millis(1000 * event.sequence);
    event.description = std::move(description);
    return events.emplace_back(std::move(event));
  }
  // Gives the slot `number` of a group a machine, i-000000000000000<n>.
  Slot& launch(ClusterState& state, const std::string& node_name, SlotState slot_state) {
    for (auto& [id, slot] : state.slots) {
      if (slot.node_name != node_name) continue;
      Machine machine;
      machine.id = MachineId(fmt::format("i-{:017x}", ++machines_));
      machine.address = fmt::format("10.77.0.{}", machines_);
      machine.zone = "us-west-2a";
      machine.launched_at = now + Millis(1000 * machines_);
      slot.machine = machine;
      slot.state = slot_state;
      return slot;
    }
    throw std::runtime_error("no slot " + node_name);
  }

 private:
  static bool matches(const Event& event, const store::EventQuery& query) {
    return (query.group.empty() || event.group == query.group) &&
           (query.instance.empty() || event.instance == query.instance) &&
           (!query.resource || event.resource == *query.resource) && (!query.after || event.time > *query.after) &&
           (!query.before || event.time < *query.before) && event.sequence > query.after_sequence &&
           (query.before_sequence == 0 || event.sequence < query.before_sequence);
  }
  void add_group(ClusterState& state, const reconcile::GroupWish& wish) {
    Group group;
    group.name = wish.name;
    group.type = wish.type;
    group.instance_type = wish.instance_type;
    group.partition = wish.partitions.empty() ? "" : wish.partitions.front();
    group.target_count = wish.count;
    group.min_count = wish.min_count;
    group.created_at = now;
    group.spec = wish.spec;
    state.groups[group.name] = group;
    for (int number = 1; number <= wish.count; ++number) {
      Slot slot;
      slot.id = SlotId(fmt::format("00000000-0000-4000-8000-{:012}", state.slots.size() + 1));
      slot.group = group.name;
      slot.number = number;
      slot.instance_type = group.instance_type;
      slot.node_name = fmt::format("{}-{}", group.name, number);
      slot.created_at = now;
      state.slots[slot.id] = slot;
    }
  }
  int machines_ = 0;
};

}  // namespace espalier::api
