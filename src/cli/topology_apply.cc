#include "cli/topology_apply.h"

#include <fmt/ranges.h>

#include <optional>

#include "base/file.h"
#include "slurm/hostlist.h"
#include "topology/compare.h"
#include "topology/shown.h"

namespace espalier::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownDifferences = 5;

// The two files by which Slurm may know a topology, as they were before, to be put back.
class Files {
 public:
  explicit Files(fs::path folder) : folder_(std::move(folder)) {
    for (const char* name : kNames) before_.push_back(text_of(name));
  }

  [[nodiscard]] bool are(const topology::TopologyFiles& wanted) const {
    return before_[0].value_or("") == wanted.conf && before_[1].value_or("") == wanted.yaml;
  }
  Result<void> write(const topology::TopologyFiles& wanted) {
    return put(kNames[0], as_optional(wanted.conf)).and_then([&] { return put(kNames[1], as_optional(wanted.yaml)); });
  }
  Result<void> put_back() {
    return put(kNames[0], before_[0]).and_then([&] { return put(kNames[1], before_[1]); });
  }

 private:
  static constexpr const char* kNames[] = {"topology.conf", "topology.yaml"};

  static std::optional<std::string> as_optional(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  }
  [[nodiscard]] std::optional<std::string> text_of(const char* name) const {
    auto text = read_file(folder_ / name);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  }
  Result<void> put(const char* name, const std::optional<std::string>& text) {
    if (text_of(name) == text) return {};
    if (text) return write_file(folder_ / name, *text);
    std::error_code ec;
    fs::remove(folder_ / name, ec);
    if (ec) return fail(ErrorCode::kPermission, "cannot remove {}: {}", (folder_ / name).string(), ec.message());
    return {};
  }

  fs::path folder_;
  std::vector<std::optional<std::string>> before_;
};

// TopologyPlugin is the user's, in slurm.conf: it takes a restart of slurmctld to change it.
Result<void> check_plugin(const topology::TopologyFiles& files, const SlurmFacts& facts) {
  if (!files.yaml.empty() || files.plugin == facts.plugin) return {};
  return fail(ErrorCode::kConflict,
              "slurm.conf says TopologyPlugin={}, and this topology needs {}{}: change it, restart slurmctld, and try "
              "again",
              facts.plugin, files.plugin, files.param.empty() ? "" : " with TopologyParam=" + files.param);
}

Result<void> verify(const topology::ClusterPlan& plan, const SlurmFacts& facts, LocalSlurm& slurm) {
  const auto shown = slurm.shown(facts.version);
  if (!shown) return tl::unexpected(shown.error());
  auto wrong = topology::differences(plan, *shown);
  if (wrong.empty()) return {};
  if (wrong.size() > kShownDifferences) wrong.resize(kShownDifferences);
  return fail(ErrorCode::kConflict, "slurmctld has something else: {}", fmt::join(wrong, "; "));
}

// Where the version can, nodes move one by one and nothing else notices.
Result<bool> move_nodes(const topology::ClusterPlan& plan, const topology::Steps& steps, const SlurmFacts& facts,
                        LocalSlurm& slurm) {
  if (!steps.reconfigure.empty()) return false;
  for (const auto& move : steps.moves)
    if (auto done = slurm.place(move.nodes, move.topology); !done) return tl::unexpected(done.error());
  if (auto right = verify(plan, facts, slurm); !right) return tl::unexpected(right.error());
  return true;
}

// Saved places that the file does not know go first, or it would be refused.
Result<void> reload(const topology::ClusterPlan& plan, const std::vector<topology::Shown>& shown,
                    const SlurmFacts& facts, LocalSlurm& slurm) {
  if (const auto lost = topology::lost_places(plan, shown); !lost.empty())
    if (auto gone = slurm.place(slurm::compress(lost), ""); !gone) return gone;
  return slurm.reconfigure().and_then([&] { return verify(plan, facts, slurm); });
}

tl::unexpected<Error> take_back(const Error& error, Files& files, LocalSlurm& slurm) {
  if (const auto back = files.put_back(); !back)
    return fail(error.code, "{}; and the files that were there could not be brought back: {}", error.message,
                back.error().message);
  const auto again = slurm.reconfigure();
  return fail(error.code, "{}; the files that were there are back, and slurmctld has {}", error.message,
              again ? std::string("read them") : "not read them again: " + again.error().message);
}

}  // namespace

Result<Applied> apply(const topology::ClusterPlan& plan, const SlurmFacts& facts, LocalSlurm& slurm) {
  const auto wanted = topology::render(plan);
  if (auto ok = check_plugin(wanted, facts); !ok) return tl::unexpected(ok.error());
  const auto shown = slurm.shown(facts.version);
  if (!shown) return tl::unexpected(shown.error());
  Applied out{Outcome::unchanged, topology::differences(plan, *shown)};
  Files files(facts.folder);
  if (out.changes.empty() && files.are(wanted)) return out;
  // A slurmctld that starts between file and moves must find every leaf that it has nodes on.
  auto careful = plan;
  topology::keep_leaves_in_use(careful, *shown);
  if (auto written = files.write(topology::render(careful)); !written) {
    (void)files.put_back();
    return tl::unexpected(written.error());
  }
  const auto moved = move_nodes(plan, topology::steps_to(plan, *shown), facts, slurm);
  if (auto written = files.write(wanted); !written) return take_back(written.error(), files, slurm);
  if (moved && *moved) {
    out.outcome = out.changes.empty() ? Outcome::unchanged : Outcome::moved;
    return out;
  }
  out.outcome = Outcome::reconfigured;
  if (auto done = reload(plan, *shown, facts, slurm); !done) return take_back(done.error(), files, slurm);
  return out;
}

}  // namespace espalier::cli
