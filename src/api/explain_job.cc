// Espalier.ExplainJob: why a job waits, and what would run now.
#include "api/lookup.h"
#include "api/read.h"
#include "slurm/node_state.h"
#include "topology/waits.h"

namespace espalier::api {
namespace {

using topology::NodeNow;

// As slurmctld shows a node that is in use.
NodeNow ready_node(const engine::View& view, const Slot& slot) {
  const auto seen = view.slurm_nodes.find(slot.node_name);
  if (seen == view.slurm_nodes.end()) return {slot.node_name, NodeNow::Is::out, "slurmctld does not show it"};
  const auto facts = slurm::read_state(seen->second.state);
  if (facts.down || facts.draining || facts.failing || !facts.responding)
    return {slot.node_name, NodeNow::Is::out,
            seen->second.reason.empty() ? seen->second.state : seen->second.state + ": " + seen->second.reason};
  return {slot.node_name, facts.idle ? NodeNow::Is::idle : NodeNow::Is::busy, ""};
}

NodeNow node_now(const engine::View& view, const Slot& slot) {
  if (slot.state == SlotState::Ready) return ready_node(view, slot);
  const auto why = view.explain(slot);
  return {slot.node_name, slot.wanted && slot.state != SlotState::Draining ? NodeNow::Is::coming : NodeNow::Is::out,
          fmt::format("{}: {}; next: {}", enum_name(slot.state), why.because, why.next)};
}

std::vector<NodeNow> nodes_of(const engine::View& view, const std::string& partition) {
  std::vector<NodeNow> out;
  for (const auto& [id, slot] : view.state.slots) {
    const auto& group = view.state.groups.at(slot.group);
    if (group.type == NodeType::Compute && group.partition == partition && slot.state != SlotState::Gone)
      out.push_back(node_now(view, slot));
  }
  return out;
}

const topology::Plan& plan_of(const topology::ClusterPlan& plan, const std::string& partition) {
  if (const auto own = plan.partitions.find(partition); own != plan.partitions.end())
    for (const auto& topology : plan.topologies)
      if (topology.model == own->second) return topology;
  return plan.main();
}

json::object explained(const engine::View& view, const slurm::Job& job) {
  const auto wait =
      topology::explain_wait(job, plan_of(view.wanted().plan, job.partition), nodes_of(view, job.partition));
  return {{"JobId", job.id},
          {"State", job.state},
          {"Reason", job.reason},
          {"Partition", job.partition},
          {"NodeCount", job.nodes},
          {"Because", to_json(wait.because)},
          {"WouldRun", to_json(wait.would_run)}};
}

void explain_job(const Services& services, const Call& call, const Done& done) {
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  const auto name = text(call.input, "JobId");
  services.clusters.read_job(*id, name, [&services, id = *id, name, done](const Result<std::string>& shown) {
    const auto job = shown.and_then([](const std::string& lines) { return slurm::read_job(lines); });
    if (!job) return done(fail(job.error().code, "Job {}: {}", name, job.error().message));
    json::object answer;
    const auto read = services.clusters.read(id, [&](const engine::View& view) { answer = explained(view, *job); });
    done(read ? Result<json::object>(std::move(answer)) : tl::unexpected(read.error()));
  });
}

}  // namespace

std::vector<Operation> explain_job_operations() { return {{"Espalier.ExplainJob", explain_job}}; }

}  // namespace espalier::api
