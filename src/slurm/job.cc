#include "slurm/job.h"

#include <charconv>

#include "slurm/hostlist.h"

namespace espalier::slurm {
namespace {

// The first of that key. A job's name stands before all of these and may have spaces, so it is cut off before.
std::string value(std::string_view line, std::string_view key) {
  const auto at = line.find(fmt::format(" {}=", key));
  if (at == std::string_view::npos) return "";
  const auto from = at + key.size() + 2;
  const auto text = line.substr(from, line.find(' ', from) - from);
  return text == "(null)" || text == "None" || text == "N/A" ? "" : std::string(text);
}

// "16-16" of a job that waits: the least.
int leading_number(std::string_view text, int otherwise) {
  int out = otherwise;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc() ? out : otherwise;
}

std::vector<std::string> hosts(const std::string& list) { return expand(list).value_or(std::vector<std::string>{}); }

Job job_of(std::string_view line) {
  Job out;
  out.id = value(fmt::format(" {}", line.substr(0, line.find(" JobName="))), "JobId");
  const auto after_name = line.find(" UserId=");
  line = after_name == std::string_view::npos ? line : line.substr(after_name);
  out.state = value(line, "JobState");
  out.reason = value(line, "Reason");
  out.partition = value(line, "Partition");
  out.dependency = value(line, "Dependency");
  out.start_time = value(line, "StartTime");
  out.node_list = value(line, "NodeList");
  out.features = value(line, "Features");
  out.nodes = leading_number(value(line, "NumNodes"), 1);
  out.switches = leading_number(value(line, "Switches"), 0);
  if (const int segment = leading_number(value(line, "SegmentSize"), 0); segment > 0) out.segment = segment;
  out.only = hosts(value(line, "ReqNodeList"));
  out.not_on = hosts(value(line, "ExcNodeList"));
  return out;
}

}  // namespace

Result<Job> read_job(std::string_view text) {
  std::optional<Job> first;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with("JobId=")) continue;
    Job job = job_of(line);
    if (job.state == "PENDING") return job;
    if (!first) first = std::move(job);
  }
  if (!first) return fail(ErrorCode::kNotFound, "slurmctld shows no such job");
  return *std::move(first);
}

}  // namespace espalier::slurm
