#include "simulate/report.h"

#include <utility>

#include "cli/duration.h"
#include "cli/table.h"

namespace espalier::simulate {

namespace {

std::string show(Millis length) { return length == Millis(0) ? "0s" : cli::show_duration(length); }
std::string time(const std::optional<Millis>& at) { return at ? show(*at) : "never"; }

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} ({:.0f} %)", part, 100 * part / whole) : fmt::format("{:.1f}", part);
}

std::string jobs(const JobsReport& jobs) {
  std::string out = fmt::format("{} of {}", jobs.ended, jobs.submitted);
  if (jobs.running > 0) out += fmt::format(", {} running", jobs.running);
  if (jobs.waiting > 0) out += fmt::format(", {} waiting", jobs.waiting);
  return out;
}

std::string creations(const LifeReport& life) {
  return life.failed_creations == 0 ? std::to_string(life.creations)
                                    : fmt::format("{}, {} went back", life.creations, life.failed_creations);
}

int died(const LifeReport& life) {
  int out = 0;
  for (const GroupReport& group : life.groups) out += group.died;
  return out;
}

// A line for every figure, the lives side by side.
cli::Table figures(const Report& report) {
  std::vector<std::string> header{"FIGURE"};
  for (const LifeReport& life : report.lives) header.push_back(life.mode);
  cli::Table table(std::move(header));
  const auto line = [&](const char* name, auto figure) {
    std::vector<cli::Cell> row{name};
    for (const LifeReport& life : report.lives) row.emplace_back(figure(life));
    table.add(std::move(row));
  };
  line("in service after", [](const LifeReport& life) { return time(life.in_service); });
  line("first job after", [](const LifeReport& life) { return time(life.first_job); });
  line("full size after", [](const LifeReport& life) { return time(life.full_size); });
  line("clusters created", creations);
  line("machines that died", [](const LifeReport& life) { return std::to_string(died(life)); });
  line("jobs ended", [](const LifeReport& life) { return jobs(life.jobs); });
  line("jobs run again", [](const LifeReport& life) { return std::to_string(life.jobs.restarts); });
  line("jobs waited, on average",
       [](const LifeReport& life) { return life.jobs.waited ? show(*life.jobs.waited) : std::string(); });
  line("node-hours wished", [](const LifeReport& life) { return fmt::format("{:.1f}", life.hours.wished); });
  line("  had", [](const LifeReport& life) { return share(life.hours.had, life.hours.wished); });
  line("  ready", [](const LifeReport& life) { return share(life.hours.ready, life.hours.wished); });
  line("  used by jobs", [](const LifeReport& life) { return share(life.hours.used, life.hours.wished); });
  return table;
}

// A line for every size of a group that was wished for; what concerns the group as a whole stands in its first.
cli::Table groups(const LifeReport& life) {
  cli::Table table({"GROUP", "TYPE", "WISHED AT", "NODES", "REACHED", "FIRST READY", "FIRST JOB", "DIED",
                    "HOURS WISHED", "HAD", "READY", "USED"});
  for (const GroupReport& group : life.groups) {
    bool first = true;
    for (const Size& size : group.sizes) {
      std::vector<cli::Cell> row{group.name, group.type, show(size.at), std::to_string(size.count), time(size.reached)};
      if (std::exchange(first, false)) {
        row.insert(row.end(), {time(group.first_ready), time(group.first_job), std::to_string(group.died)});
        for (const double hours : {group.hours.wished, group.hours.had, group.hours.ready, group.hours.used})
          row.emplace_back(fmt::format("{:.1f}", hours));
      }
      row.resize(12, "");
      table.add(std::move(row));
    }
  }
  return table;
}

}  // namespace

std::vector<std::string> text(const Report& report, const cli::Terminal& terminal) {
  std::vector<std::string> out{fmt::format("{} ({} lived, seed {})", cli::one_line(report.scenario),
                                           cli::show_duration(report.duration), report.seed),
                               ""};
  const auto add = [&](const cli::Table& table) {
    for (auto& line : table.lines(terminal)) out.push_back(std::move(line));
  };
  add(figures(report));
  for (const LifeReport& life : report.lives) {
    out.insert(out.end(), {"", life.mode + ", by group"});
    add(groups(life));
  }
  return out;
}

}  // namespace espalier::simulate
