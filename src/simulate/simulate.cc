#include "simulate/simulate.h"

#include <filesystem>
#include <ostream>

#include "base/file.h"
#include "cli/duration.h"
#include "simulate/life.h"
#include "simulate/plot.h"

namespace espalier::simulate {

namespace {

constexpr std::uintmax_t kMostBytes = 4 << 20;  // of a scenario
constexpr Millis kTellEvery{2'000};             // of real time

Result<Scenario> read(const cli::SimulateOptions& options) {
  std::error_code ec;
  if (const auto size = std::filesystem::file_size(options.scenario, ec); !ec && size > kMostBytes)
    return fail(ErrorCode::kInvalid, "{} has {} bytes: a scenario has {} at most", options.scenario, size, kMostBytes);
  const auto text = read_file(options.scenario);
  if (!text) return tl::unexpected(text.error());
  auto scenario = read_scenario(*text);
  if (!scenario) return fail(scenario.error().code, "{}: {}", options.scenario, scenario.error().message);
  if (scenario->name.empty()) scenario->name = std::filesystem::path(options.scenario).stem().string();
  if (options.seed) scenario->seed = *options.seed;
  return scenario;
}

// For those who wait: how far it is, on standard error.
Progress progress(cli::Context& context, const Scenario& scenario, const char* mode) {
  return [&context, &scenario, mode, told = context.clock.now()](Millis lived) mutable {
    if (context.clock.now() - told < kTellEvery) return;
    told = context.clock.now();
    context.err << fmt::format("simulate: {}: {} of {} lived\n", mode, cli::show_duration(lived),
                               cli::show_duration(scenario.duration))
                << std::flush;
  };
}

}  // namespace

Result<void> simulate(cli::Context& context, const cli::SimulateOptions& options) {
  const auto scenario = read(options);
  if (!scenario) return tl::unexpected(scenario.error());
  Report report{scenario->name, scenario->duration, scenario->seed, {}};
  for (const char* mode : {"continuous", "all-or-nothing"}) {
    if (!options.mode.empty() && options.mode != mode) continue;
    auto life = live(*scenario, mode == std::string_view("continuous"), progress(context, *scenario, mode));
    if (!life) return fail(life.error().code, "{}: {}", options.scenario, life.error().message);
    report.lives.push_back(std::move(*life));
  }
  if (context.json)
    cli::print_json(context, to_json(report));
  else
    for (const std::string& line : text(report, context.terminal)) cli::print(context, line);
  if (options.plot.empty()) return {};
  return write_file(options.plot, plot(report));
}

}  // namespace espalier::simulate
