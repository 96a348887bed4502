#include "reconcile/slurm/truth.h"

#include <fmt/format.h>

namespace espalier::reconcile {

namespace {

constexpr std::size_t kMostShown = 4;  // differences

std::string doing(const Observed::Batch& batch) {
  if (!batch.files) return "slurmctld is being asked";
  return batch.live && !batch.ranks ? "nodes are being moved" : "slurmctld is being reconfigured";
}

void add_differences(const SlurmWanted& wanted, const Observed& observed, std::vector<std::string>& out) {
  auto differ = topology::differences(wanted.plan, observed.shown);
  const auto count = differ.size();
  if (count > kMostShown) {
    differ.resize(kMostShown);
    differ.push_back(fmt::format("and {} more differences", count - kMostShown));
  }
  out.insert(out.end(), differ.begin(), differ.end());
}

}  // namespace

TopologyTruth topology_truth(const ClusterState& state, const Observed& observed) {
  TopologyTruth out;
  const bool applying = observed.batch && observed.batch->files;
  if (!observed.slurm_read) {
    out.pending.emplace_back("slurmctld was not read yet: its controller is not ready, or does not answer");
    return out;
  }
  const bool planned = observed.wanted_is_new();
  out.holds = planned && !applying && !observed.strange && observed.places == observed.wanted->places;
  if (out.holds) return out;
  out.pending_since = observed.files_differ_since;
  if (!planned) out.pending.emplace_back("places have changed: they are planned anew in a moment");
  if (planned) add_differences(*observed.wanted, observed, out.pending);
  if (observed.batch) out.pending.push_back(doing(*observed.batch));
  if (!state.slurm.failure.empty())
    out.pending.push_back("it is tried again; the last try failed: " + state.slurm.failure);
  return out;
}

}  // namespace espalier::reconcile
