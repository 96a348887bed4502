// A scenario lived once: Espalier's own engine, reconcile, store, topology and API under virtual time, between a cloud,
// machines and a Slurm that are models.
#pragma once

#include <functional>

#include "simulate/report.h"
#include "simulate/scenario.h"

namespace espalier::simulate {

// Told now and then how much has been lived.
using Progress = std::function<void(Millis lived)>;

// `continuous`: NodeProvisioningMode, else all or nothing. The same arguments make the same report. kInvalid: the API
// refuses such a cluster. kInternal: a fault of Espalier's has shown.
Result<LifeReport> live(const Scenario& scenario, bool continuous, const Progress& progress);

}  // namespace espalier::simulate
