#include "agent/deep_check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>

#include "agent/files.h"
#include "agent/health.h"
#include "agent/socket.h"
#include "base/log.h"
#include "base/unique_fd.h"

namespace espalier::agent {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTailBytes = 256 << 10;
constexpr std::size_t kReasonBytes = 200;
constexpr int kTries = 3;  // a single lost packet is no fault
constexpr int kCallers = 32;
constexpr Millis kOneTry{3000};
constexpr Millis kGrace{5000};
constexpr Millis kSlurmTimeout{20'000};

// One line that Slurm takes as a reason and a terminal as text.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kReasonBytes))
    out += c < ' ' || c > '~' || c == '"' || c == '\'' || c == '|' ? ' ' : c;
  const auto end = out.find_last_not_of(' ');
  return end == std::string::npos ? "" : out.substr(0, end + 1);
}

CheckFinding finding(CheckKind kind, CheckVerdict verdict, std::string_view reason) {
  return {kind, verdict, one_line(reason), {}, {}};
}

std::string_view last_line(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  return text.substr(text.find_last_of('\n') + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string text_of(const json::object& object, const char* name) {
  const auto* member = object.if_contains(name);
  return member && member->is_string() ? std::string(std::string_view(member->get_string())) : "";
}

const json::array* list_of(const json::object& object, const char* name) {
  const auto* member = object.if_contains(name);
  return member && member->is_array() && !member->get_array().empty() ? &member->get_array() : nullptr;
}

// Of a result that failed: what is said of it, and whether all of that is about how the machine is set up, which
// another machine with the same image would be too.
struct Warnings {
  std::string first;
  bool of_settings = false;

  explicit Warnings(const json::object& result) {
    constexpr int kSettings = 5;  // dcgmErrorSeverity: CONFIG
    const auto* all = list_of(result, "warnings");
    if (!all) return;
    if (all->front().is_string()) first = all->front().get_string();
    if (all->front().is_object()) first = text_of(all->front().get_object(), "warning");
    of_settings = std::ranges::all_of(*all, [](const json::value& one) {
      const auto* severity = one.is_object() ? one.get_object().if_contains("error_severity") : nullptr;
      return severity && severity->is_int64() && severity->get_int64() == kSettings;
    });
  }
};

// What put the hardware under load and passed, and what failed. Releases of dcgmi differ in what they nest, not in
// these members.
struct Diagnosis {
  int passed = 0;
  std::string failed, wrongly_set_up;

  void walk(const json::value& value, const std::string& test, const std::string& category) {
    if (value.is_array())
      for (const auto& item : value.get_array()) walk(item, test, category);
    if (value.is_object()) walk_object(value.get_object(), test, category);
  }

 private:
  void walk_object(const json::object& object, const std::string& test, const std::string& category) {
    const std::string name = text_of(object, "name").empty() ? test : text_of(object, "name");
    const std::string within = text_of(object, "category").empty() ? category : lower(text_of(object, "category"));
    const std::string status = lower(text_of(object, "status"));
    passed += status == "pass" && within != "deployment" ? 1 : 0;  // that files and permissions are right is no stress
    if (status == "fail") note_failure(name, Warnings(object));
    const bool has_results = list_of(object, "results") != nullptr;
    for (const auto& [key, item] : object)
      if (!has_results || key != "test_summary") walk(item, name, within);  // it repeats them, without the warnings
  }

  void note_failure(const std::string& test, const Warnings& warnings) {
    std::string& noted = warnings.of_settings ? wrongly_set_up : failed;
    if (noted.empty()) noted = warnings.first.empty() ? test : fmt::format("{}: {}", test, warnings.first);
  }
};

}  // namespace

CheckFinding read_answer(CheckKind kind, int status, const std::string& output) {
  const std::string_view line = last_line(output);
  const std::string said = one_line(line);
  if (status != 0)
    return finding(kind, CheckVerdict::NotChecked,
                   fmt::format("{} ended with {}: {}", kCheckProgram, describe_status(status), said));
  const auto word = line.substr(0, line.find(' '));
  const std::string_view reason = word.size() < line.size() ? line.substr(word.size() + 1) : line;
  if (word == "healthy") return finding(kind, CheckVerdict::Healthy, reason);
  if (word == "drain") return finding(kind, CheckVerdict::Drain, reason);
  if (word == "replace") return finding(kind, CheckVerdict::Replace, reason);
  return finding(kind, CheckVerdict::NotChecked,
                 fmt::format("{} said neither healthy, drain nor replace but '{}'", kCheckProgram, said));
}

CheckFinding read_diagnosis(int status, const std::string& output) {
  constexpr auto kKind = CheckKind::InstanceStress;
  const auto begin = output.find('{');
  const auto parsed = begin == std::string::npos ? fail(ErrorCode::kInvalid, "it wrote no JSON")
                                                 : parse_json(std::string_view(output).substr(begin));
  if (!parsed) return finding(kKind, CheckVerdict::NotChecked, "dcgmi diag: " + parsed.error().message);
  Diagnosis diagnosis;
  diagnosis.walk(*parsed, "a test", "");
  if (!diagnosis.failed.empty())
    return finding(kKind, CheckVerdict::Replace, fmt::format("dcgmi diag failed: {}", diagnosis.failed));
  if (!diagnosis.wrongly_set_up.empty())
    return finding(kKind, CheckVerdict::NotChecked,
                   fmt::format("dcgmi diag wants another setting: {}", diagnosis.wrongly_set_up));
  if (status != 0) return finding(kKind, CheckVerdict::NotChecked, "dcgmi diag ended with " + describe_status(status));
  if (diagnosis.passed == 0) return finding(kKind, CheckVerdict::NotChecked, "dcgmi diag put nothing under load");
  return finding(kKind, CheckVerdict::Healthy, fmt::format("dcgmi diag: {} results passed", diagnosis.passed));
}

std::vector<std::string> unreachable(const std::vector<HostEntry>& peers, std::uint16_t port, Millis of_one_try) {
  std::vector<char> reached(peers.size(), 0);
  std::atomic<std::size_t> next = 0;
  const auto call = [&] {
    for (std::size_t i = next++; i < peers.size(); i = next++)
      for (int tries = 0; tries < kTries && !reached[i]; ++tries)
        reached[i] = Socket::connect({peers[i].address, port}, in(of_one_try)).has_value() ? 1 : 0;
  };
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < std::min<std::size_t>(kCallers, peers.size()); ++i) callers.emplace_back(call);
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < peers.size(); ++i)
    if (!reached[i]) out.push_back(peers[i].name);
  return out;
}

Result<void> DeepChecks::begin(const std::string& command, const CheckOrder& order) {
  std::unique_lock lock(mutex_);
  const bool runs = !check_.empty() && !answered_;
  if (runs && check_ != order.check)
    return fail(ErrorCode::kConflict, "the deep health check {} still runs on this machine", check_);
  command_ = command;
  if (check_ == order.check) {
    if (answered_) {
      CommandResult result{command_, true, "", {}, *answered_};
      lock.unlock();
      done_(std::move(result));
    }
    return {};
  }
  check_ = order.check;
  answered_.reset();
  if (thread_.joinable()) thread_.join();  // it has answered: nothing of it uses the lock any more
  thread_ = std::jthread([this, order] { run(order); });
  return {};
}

void DeepChecks::run(const CheckOrder& order) {
  const auto end = std::chrono::steady_clock::now() + order.time_limit;
  std::vector<CheckFinding> all;
  for (const CheckKind kind : order.kinds) {
    const auto left = std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now());
    for (auto& one : findings(kind, order, std::max(left, Millis(1000)))) {
      log::info("deep health check {}: {}: {}: {}", order.check, enum_name(kind), enum_name(one.verdict), one.reason);
      all.push_back(std::move(one));
    }
  }
  CommandResult result{"", true, "", {}, all};
  {
    const std::lock_guard lock(mutex_);
    answered_ = std::move(all);
    result.id = command_;
  }
  done_(std::move(result));
}

// What could not be done here is made up for by the machine's own program, if that gives an answer.
std::vector<CheckFinding> DeepChecks::findings(CheckKind kind, const CheckOrder& order, Millis limit) {
  CheckFinding ours = kind == CheckKind::InstanceStress ? stress(limit) : connectivity(order);
  auto theirs = ask_own_program(kind, order, limit);
  if (!theirs) return {std::move(ours)};
  if (ours.verdict == CheckVerdict::NotChecked) return {std::move(*theirs)};
  return {std::move(ours), std::move(*theirs)};
}

CheckFinding DeepChecks::stress(Millis limit) {
  constexpr auto kKind = CheckKind::InstanceStress;
  const int count = count_devices(at("/dev"), "nvidia");
  if (count == 0)
    return finding(kKind, CheckVerdict::NotChecked, "there are no GPUs on this machine to put under load");
  const auto dcgmi = find_program("dcgmi", root_);
  if (!dcgmi)
    return finding(kKind, CheckVerdict::NotChecked, fmt::format("there are {} GPUs, but no dcgmi to test them", count));
  const auto output = run_program("dcgmi", {*dcgmi, "diag", "-r", "4", "-j"}, limit);
  if (!output) return finding(kKind, CheckVerdict::NotChecked, "dcgmi diag: " + output.error().message);
  return read_diagnosis(output->status, output->tail);
}

CheckFinding DeepChecks::connectivity(const CheckOrder& order) {
  CheckFinding out =
      finding(CheckKind::InstanceConnectivity, CheckVerdict::NotChecked, "there is no other node to reach");
  if (order.peers.empty()) return out;
  for (const auto& peer : order.peers) out.peers.push_back(peer.name);
  const auto port = slurmd_port();
  out.unreachable = unreachable(order.peers, port, kOneTry);
  out.verdict = out.unreachable.empty() ? CheckVerdict::Healthy : CheckVerdict::Drain;
  out.reason = fmt::format("{} of {} nodes reached at port {}", out.peers.size() - out.unreachable.size(),
                           out.peers.size(), port);
  return out;
}

std::optional<CheckFinding> DeepChecks::ask_own_program(CheckKind kind, const CheckOrder& order, Millis limit) {
  const fs::path program = at(kCheckProgram);
  if (access(program.c_str(), X_OK) != 0) return std::nullopt;
  std::string lines;
  for (const auto& peer : order.peers) lines += fmt::format("{} {}\n", peer.name, peer.address);
  const fs::path peers = at(kCheckFolder) / "peers";
  auto put = put_folder(peers.parent_path()).and_then([&] { return put_file(peers, lines); });
  if (!put) return finding(kind, CheckVerdict::NotChecked, put.error().message);
  const std::string name(enum_name(kind));
  const auto output = run_program(name, {program, name, peers}, limit);
  if (!output)
    return finding(kind, CheckVerdict::NotChecked, fmt::format("{}: {}", kCheckProgram, output.error().message));
  return read_answer(kind, output->status, output->tail);
}

Result<DeepChecks::Output> DeepChecks::run_program(const std::string& name, const std::vector<std::string>& argv,
                                                   Millis limit) {
  const fs::path log = at(kCheckFolder) / (name + ".log");
  if (auto made = put_folder(log.parent_path()); !made) return tl::unexpected(made.error());
  const UniqueFd out(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
  if (!out) return fail(ErrorCode::kUnavailable, "cannot write {}", log.string());
  auto pid = processes_.spawn({.argv = argv, .environment = {}, .user = {}, .output = out.get(), .errors = out.get()});
  if (!pid) return tl::unexpected(pid.error());
  const auto status = processes_.wait(*pid, limit);
  if (!status) {
    kill(-*pid, SIGTERM);
    processes_.wait(*pid, kGrace);
  }
  kill(-*pid, SIGKILL);  // a check leaves nothing running behind
  if (status) return Output{*status, tail_of(log, kTailBytes)};
  processes_.wait(*pid, Millis(1000));
  return fail(ErrorCode::kTimeout, "it was killed after {} s", limit.count() / 1000);
}

std::uint16_t DeepChecks::slurmd_port() {
  if (port_ != 0) return port_;
  const auto config = processes_.run({"scontrol", "show", "config"}, kSlurmTimeout);
  const auto line = config ? config->find("\nSlurmdPort") : std::string::npos;
  if (line == std::string::npos) return kSlurmdPort;
  const auto digits = config->find_first_of("0123456789", line);
  std::uint16_t port = kSlurmdPort;
  if (digits != std::string::npos) std::from_chars(config->data() + digits, config->data() + config->size(), port);
  return port;
}

}  // namespace espalier::agent
