// Where machines hang, as the world tells it: text of a source → positions. Pure.
//
// Sources are partial, late and contradict themselves and each other. A reader never gives up on a line: it takes what
// it understands and says what it left out. Only a text that is not of its kind at all is kInvalid.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "slurm/hostlist.h"

namespace espalier::topology {

using Positions = std::map<std::string, Position>;

inline constexpr std::size_t kMaxMachines = slurm::kNodeTable;
inline constexpr std::size_t kMaxReasons = 50;  // further ones are counted

// What was not used, and why; for people.
class Reasons {
 public:
  void add(std::string reason) {
    if (lines_.size() < kMaxReasons)
      lines_.push_back(std::move(reason));
    else
      ++more_;
  }
  void add_all(const Reasons& other, std::string_view from) {
    for (const auto& line : other.lines_) add(std::string(from) + line);
    more_ += other.more_;
  }
  // In the order of the source; the last says how many more there are.
  [[nodiscard]] std::vector<std::string> lines() const {
    auto out = lines_;
    if (more_ > 0) out.push_back(fmt::format("and {} more", more_));
    return out;
  }

 private:
  std::vector<std::string> lines_;
  std::size_t more_ = 0;
};

struct Located {
  Positions positions;             // by the source's own id: instance id, host name. A part may be unknown, never both
  std::set<std::string> doubtful;  // those about which the source contradicts itself: a position known before is better
  Reasons left_out;
};

// Keeps the bound on machines; a known id may always be given again. False: it is left out, with the reason.
bool has_room(Located& located, const std::string& id);

// Calls f(line, number from 1) for every line, without its end.
template <typename F>
void for_each_line(std::string_view text, F&& f) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    f(line, number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}
std::string_view trim(std::string_view text);

// Answers of the AWS CLI, as JSON, one after the other (pages): DescribeInstanceTopology by instance id, and
// DescribeCapacityReservationTopology by reservation id. Machines that do not run are not in them.
Result<Located> read_ec2(std::string_view text);

// Output of ibnetdiscover, by host name; see infiniband.h. hosts: GUID of an HCA, 16 hex digits → host, for those whose
// description names no host.
Result<Located> read_ibnetdiscover(std::string_view text, const std::map<std::string, std::string>& hosts = {});

// NVLink domains alone, a line a machine or a GPU: "HOST: CLUSTER_UUID[, CLIQUE_ID]", as collected from
// `nvidia-smi --query-gpu=fabric.clusterUuid,fabric.cliqueId --format=csv,noheader`. N/A and zeros: unknown.
Result<Located> read_nvlink(std::string_view text);

// "HOSTLIST,core/spine-1/leaf-1[,DOMAIN]" a line, root first; '#' begins a comment, a host list with commas is quoted.
Result<Located> read_csv(std::string_view text);
// The same as YAML: a map of host list → "core/spine-1/leaf-1" or {path: [core, spine-1, leaf-1], domain: nvl-1}.
Result<Located> read_paths_yaml(std::string_view text);
// As CSV, one node a line: what read_csv reads.
std::string write_csv(const Positions& positions);

// A drawn fabric as YAML: `leaves` of the fabric model of the local provider, filled in the order of `nodes` (or with
// the host list that a leaf has in `nodes`); or `switches` and `blocks`, each block a leaf with its nodes.
Result<Located> read_model(std::string_view text, const std::vector<std::string>& nodes);

}  // namespace espalier::topology
