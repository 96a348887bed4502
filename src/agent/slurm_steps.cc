#include "agent/slurm_steps.h"

#include <thread>

#include "agent/backoff.h"
#include "agent/files.h"
#include "agent/slurm_text.h"
#include "agent/socket.h"

namespace espalier::agent {

namespace {

constexpr Millis kCommandTimeout{30'000};
constexpr Millis kReconfigureTimeout{120'000};  // measured: 2-3 s with 20,000 nodes
constexpr Millis kPingTimeout{5'000};
constexpr std::uintmax_t kMaxLogBytes = 64 << 10;
constexpr Millis kReturnTimeout{30'000};  // for a slurmctld that died to be back

void add(std::vector<std::string>& words, const char* key, const std::string& value) {
  if (!value.empty()) words.push_back(key + value);
}

// What scontrol says when it is to create a partition that exists, or to delete one that does not (24.11).
bool names_no_partition(const Error& error) {
  return error.message.find("Invalid partition name") != std::string::npos;
}

std::uintmax_t size_of(const std::filesystem::path& log) {
  std::error_code error;
  const auto size = std::filesystem::file_size(log, error);
  return error ? 0 : size;
}

// What slurmctld logged as the cause since its log had `before` bytes: "; slurmctld: fatal: …", or "".
std::string said_since(const std::filesystem::path& log, std::uintmax_t before) {
  const auto now = size_of(log);
  if (now <= before) return "";
  const std::string causes = causes_in(tail_of(log, std::min<std::uintmax_t>(now - before, kMaxLogBytes)));
  return causes.empty() ? "" : "; " + causes;
}

std::vector<std::string> partition_words(const std::string& verb, const SlurmStep& step) {
  std::vector<std::string> words{verb, "PartitionName=" + step.partition};
  if (verb == "update" || !step.nodes.empty()) words.push_back("Nodes=" + step.nodes);
  for (std::size_t from = 0; from < step.options.size();) {
    const auto end = std::min(step.options.find(' ', from), step.options.size());
    add(words, "", step.options.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

}  // namespace

Result<void> await_slurmctld(const RunCommand& run, Millis timeout) {
  const Deadline deadline = in(timeout);
  Backoff pauses(Millis(20), Millis(500), Random(0));
  for (;;) {
    auto ping = run({"scontrol", "ping"}, kPingTimeout);
    if (ping && says_up(*ping)) return {};
    if (std::chrono::steady_clock::now() >= deadline)
      return fail(ErrorCode::kUnavailable, "slurmctld does not answer: {}", ping ? *ping : ping.error().message);
    std::this_thread::sleep_for(pauses.next());
  }
}

std::vector<SlurmStepResult> SlurmSteps::carry_out(const std::vector<SlurmStep>& steps) {
  std::vector<SlurmStepResult> results;
  folder_.accept();
  for (const auto& step : steps) {
    auto done = one(step);
    results.push_back(done ? SlurmStepResult{true, std::move(*done)} : SlurmStepResult{false, done.error().message});
    if (done) continue;
    results.back().output +=
        put_back(step.kind == SlurmStepKind::Reconfigure && done.error().code == ErrorCode::kTimeout);
    break;
  }
  return results;
}

Result<std::string> SlurmSteps::one(const SlurmStep& step) {
  switch (step.kind) {
    case SlurmStepKind::WriteFiles: {
      if (auto ok = folder_.change(step.files, step.remove); !ok) return tl::unexpected(ok.error());
      return "";
    }
    case SlurmStepKind::Reconfigure:
      return reconfigure();
    case SlurmStepKind::UpdateNodes: {
      std::vector<std::string> words{"update", "NodeName=" + step.nodes};
      add(words, "State=", step.state);
      add(words, "Reason=", step.reason);
      add(words, "NodeAddr=", step.address);
      if (step.topology == "-")
        words.emplace_back("Topology=");
      else
        add(words, "Topology=", step.topology);
      return scontrol(std::move(words));
    }
    case SlurmStepKind::UpdatePartition:
      return scontrol(partition_words("update", step));
    case SlurmStepKind::CreatePartition:
      return create_partition(step);
    case SlurmStepKind::DeletePartition:
      return delete_partition(step.partition);
    case SlurmStepKind::ReadNodes:
      return read_nodes(step.nodes);
    case SlurmStepKind::ReadTopology:
      return scontrol({"show", step.options.empty() ? "topology" : step.options});
    case SlurmStepKind::ReadPartitions:
      return scontrol({"-a", "-o", "show", "partitions"}).map(partition_lines);
    case SlurmStepKind::ReadJob:
      return scontrol({"-o", "show", "job", step.options});
  }
  return fail(ErrorCode::kInvalid, "this agent does not know that step: update it");
}

Result<std::string> SlurmSteps::scontrol(std::vector<std::string> words) {
  words.insert(words.begin(), "scontrol");
  return run_(words, kCommandTimeout);
}

// What is there already is made as it should be: a step may come twice.
Result<std::string> SlurmSteps::create_partition(const SlurmStep& step) {
  auto created = scontrol(partition_words("create", step));
  if (created || !names_no_partition(created.error())) return created;
  return scontrol(partition_words("update", step));
}

Result<std::string> SlurmSteps::delete_partition(const std::string& name) {
  auto deleted = scontrol({"delete", "PartitionName=" + name});
  if (!deleted && names_no_partition(deleted.error())) return "";
  return deleted;
}

// The return code alone proves nothing: a slurmctld that was killed by a refused file has been seen to make it 0.
Result<std::string> SlurmSteps::reconfigure() {
  const std::uintmax_t before = size_of(log_);
  auto done = run_({"scontrol", "reconfigure"}, kReconfigureTimeout);
  if (!done) return fail(done.error().code, "{}{}", done.error().message, said_since(log_, before));
  if (auto up = await_slurmctld(run_, kReturnTimeout); !up)
    return fail(up.error().code, "scontrol reconfigure succeeded, but {}", up.error().message);
  folder_.accept();
  return done;
}

Result<std::string> SlurmSteps::read_nodes(const std::string& hostlist) {
  std::vector<std::string> words{"sinfo", "-a", "-h", "-N", "-o", kNodeFormat};
  if (!hostlist.empty()) words.insert(words.end(), {"-n", hostlist});
  return run_(words, kCommandTimeout).map([](const std::string& text) { return node_lines(parse_nodes(text)); });
}

// Returns what to add to the failure's text: "" when there was nothing to put back.
std::string SlurmSteps::put_back(bool slurmctld_may_have_taken_it) {
  if (!folder_.has_changed()) return "";
  if (auto ok = folder_.put_back(); !ok) return "; the old files could not be put back: " + ok.error().message;
  // Refused, slurmctld goes on as it was; killed by it, it is started again and reads the old files.
  auto up = await_slurmctld(run_, kReturnTimeout);
  if (up && slurmctld_may_have_taken_it) {
    auto again = run_({"scontrol", "reconfigure"}, kReconfigureTimeout);
    if (!again) return "; the old files are back, but slurmctld has not taken them: " + again.error().message;
  }
  return up ? "; the old files are back" : "; the old files are back, but " + up.error().message;
}

}  // namespace espalier::agent
