// Shows progress, each kind of output in its own way.
#pragma once

#include <memory>
#include <vector>

#include "cli/context.h"
#include "cli/progress.h"

namespace espalier::cli {

class Reporter {
 public:
  virtual ~Reporter() = default;
  // events: those since the last call.
  virtual void show(const Progress& progress, Millis elapsed, const std::vector<wire::Event>& events) = 0;
};

// --json: silent; a terminal: one block, redrawn; else: lines "<time> +<elapsed> <what changed>".
std::unique_ptr<Reporter> make_reporter(Context& context);

}  // namespace espalier::cli
