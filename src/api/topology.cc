// Espalier.DescribeTopology and SetTopology: the topology that Slurm is to have, whether it has it, and which is
// wished.
#include "api/lookup.h"
#include "api/read.h"

namespace espalier::api {
namespace {

json::array switches_of(const topology::Plan& plan) {
  json::array out;
  for (const auto& each : plan.switches)
    out.push_back({{"Name", each.name}, {"Switches", to_json(each.switches)}, {"Nodes", to_json(each.nodes)}});
  return out;
}

json::array blocks_of(const topology::ClusterPlan& plan, const std::vector<KnownBlock>& known) {
  json::array out;
  for (const auto& topology : plan.topologies)
    for (const auto& block : topology.blocks) {
      json::object shown{{"Name", block.name}, {"Nodes", to_json(block.nodes)}};
      for (const auto& each : known)
        if (each.name == block.name && !each.domain.empty()) shown["Domain"] = each.domain;
      out.push_back(std::move(shown));
    }
  return out;
}

// Partitions that stay with the cluster's default have its model.
json::array partitions_of(const topology::ClusterPlan& plan) {
  json::array out;
  for (const auto& [name, choice] : plan.choice.partitions) {
    const auto own = plan.partitions.find(name);
    const auto model = own == plan.partitions.end() ? plan.main().model : own->second;
    out.push_back({{"Name", name}, {"Model", enum_name(model)}, {"Because", choice.because}});
  }
  return out;
}

std::string_view how_applied(const SlurmApplied& slurm) {
  if (slurm.revision == 0) return "None";
  return slurm.live ? "Moves" : "Reconfigure";
}

Result<json::object> describe_topology(const Services& services, const Call& call) {
  return read_cluster(services, call, [](const engine::View& view) {
    const auto& wanted = view.wanted();
    const auto& plan = wanted.plan;
    const auto files = topology::render(plan);
    const auto& slurm = view.state.slurm;
    const auto truth = view.topology();
    json::object out{{"Wish", view.state.cluster.topology},
                     {"Model", enum_name(plan.main().model)},
                     {"Because", plan.choice.because},
                     {"Partitions", partitions_of(plan)},
                     {"Notes", to_json(plan.notes)},
                     {"SlurmVersion", to_string(plan.version)},
                     {"True", truth.holds},
                     {"Pending", to_json(truth.pending)},
                     {"Revision", slurm.revision},
                     {"Since", timestamp(slurm.since)},
                     {"Applied", how_applied(slurm)},
                     {"Failure", slurm.failure},
                     {"Switches", switches_of(plan.main())},
                     {"Blocks", blocks_of(plan, wanted.target.blocks)},
                     {"File", files.conf + files.yaml},
                     {"Drawing", topology::draw(plan)}};
    if (truth.pending_since) out["PendingSince"] = timestamp(*truth.pending_since);
    return out;
  });
}

void set_topology(const Services& services, const Call& call, const Done& done) {
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  reconcile::ClusterChange change;
  change.topology = text(call.input, "Topology");
  services.clusters.update(*id, change, answer_when_done({{"Topology", *change.topology}}, done));
}

}  // namespace

std::vector<Operation> topology_operations() {
  return {at_once("Espalier.DescribeTopology", describe_topology), {"Espalier.SetTopology", set_topology}};
}

}  // namespace espalier::api
