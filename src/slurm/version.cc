#include "slurm/version.h"

#include <charconv>

namespace espalier::slurm {
namespace {

// The next number of `text`, and what follows it; -1 when there is none.
int take_number(std::string_view& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Result<Version> read_version(std::string_view text) {
  const auto whole = text.substr(0, 60);
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  Version out;
  out.year = take_number(text);
  const bool dotted = take(text, '.');
  out.month = take_number(text);
  if (take(text, '.')) out.patch = std::max(0, take_number(text));
  if (!dotted || out.year < 0 || out.month < 1 || out.month > 12)
    return fail(ErrorCode::kInvalid, "'{}' is no version of Slurm; write it like 24.11 or 24.11.5", whole);
  if (out < releases().front().from)
    return fail(ErrorCode::kInvalid, "Slurm {} is older than {}, the oldest whose topology is known", to_string(out),
                to_string(releases().front().from));
  return out;
}

std::string to_string(const Version& version) {
  auto out = fmt::format("{}.{:02}", version.year, version.month);
  return version.patch == 0 ? out : fmt::format("{}.{}", out, version.patch);
}

const std::vector<Release>& releases() {
  static const std::vector<Release> all = [] {
    std::vector<Release> out;
    // Each release is the one before it, and what it brought.
    const auto next = [&](Version from) -> Release& {
      Release row = out.empty() ? Release{} : out.back();
      row.from = from;
      row.tried = false;
      return out.emplace_back(row);
    };
    next({22, 5});
    next({23, 2}).switch_as_node_rank = true;
    Release& first_blocks = next({23, 11});
    first_blocks.block = first_blocks.equal_blocks = true;
    first_blocks.block_sizes_key = "BlockLevels";
    Release& sizes = next({24, 5});
    sizes.equal_blocks = false;
    sizes.block_sizes_key = "BlockSizes";
    next({24, 11}).tried = true;
    Release& yaml = next({25, 5});
    yaml.topology_yaml = yaml.short_blocks = yaml.empty_switches = true;
    yaml.no_topology_plugin = "topology/flat";
    next({25, 11}).block_as_node_rank = true;
    next({26, 5}).tried = true;
    return out;
  }();
  return all;
}

const Release& release_of(const Version& version) {
  const auto* found = &releases().front();
  for (const auto& row : releases())
    if (row.from <= version) found = &row;
  return *found;
}

std::string describe(const Version& version) {
  return fmt::format("Slurm {}{}", to_string(version), release_of(version).tried ? "" : " (by rule, not tried)");
}

}  // namespace espalier::slurm
