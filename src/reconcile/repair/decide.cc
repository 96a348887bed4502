#include "reconcile/repair/decide.h"

#include <algorithm>

namespace espalier::reconcile {

std::optional<Treatment> treat(const Patient& patient, const RepairSettings& settings) {
  const FaultKind kind = patient.fault.kind;
  if (kind == FaultKind::ClockOff || (patient.compute && !patient.seen)) return std::nullopt;
  const bool may_run_jobs = patient.compute && !patient.dead;
  if (may_run_jobs && (kind == FaultKind::Silent || kind == FaultKind::DaemonDead)) return std::nullopt;

  Treatment treatment;
  treatment.not_before = patient.fault.since + settings.grace;
  treatment.at_once = !may_run_jobs;
  treatment.kind = kind == FaultKind::DiskFull ? RepairKind::Replace : RepairKind::Reboot;  // a reboot keeps the disk
  if (!patient.last || patient.last->at + settings.memory <= patient.fault.since) return treatment;
  treatment.kind = RepairKind::Replace;
  if (patient.last->kind == RepairKind::Replace)
    treatment.not_before = std::max(treatment.not_before, patient.last->at + settings.again);
  return treatment;
}

bool is_blind(int silent, int all) { return silent > std::max(1, all / 2); }

int budget(int target, const RepairSettings& settings) { return std::max(1, target * settings.budget_percent / 100); }

}  // namespace espalier::reconcile
