// espalier-agent: the first process of every machine.
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <thread>

#include "agent/agent.h"
#include "agent/files.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/version.h"
#include "machine/build.h"

namespace espalier::agent {

namespace {

constexpr const char* kUsage =
    "usage: espalier-agent run --user-data FILE    be the agent of this machine\n"
    "       espalier-agent build FOLDER            build the machine of that folder on this host\n"
    "       espalier-agent restart FOLDER          reboot it\n"
    "       espalier-agent --version\n"
    "       espalier-agent --help\n"
    "\n"
    "FILE is JSON: {\"control_plane\": \"https://10.77.0.1:8651#sha256=<that of its certificate>\",\n"
    "\"machine_id\": \"i-...\", \"token\": \"...\"}.\n"
    "SIGTERM ends Slurm's daemons and munged, in this order, then the agent.\n";

// Not of scontrol, which says nothing before it has a configuration; and not by base/process.h: as pid 1 we reap every
// child, and a quick one would be gone before it could be watched.
std::string slurm_version(Processes& processes) {
  const auto said = processes.run({"slurmctld", "-V"}, Millis(5'000));
  if (!said) log::warn("the version of Slurm is not known: {}", said.error().message);
  return said ? said->substr(0, said->find('\n')) : "";
}

Result<std::unique_ptr<Link>> make_link(const char* user_data_file, Processes& processes) {
  auto text = read_file(user_data_file);
  if (!text) return tl::unexpected(text.error());
  auto parsed = parse_json(*text);
  if (!parsed) return fail(ErrorCode::kInvalid, "{} is not JSON: {}", user_data_file, parsed.error().message);
  auto user_data = from_json<UserData>(*parsed);
  if (!user_data) return fail(ErrorCode::kInvalid, "{}: {}", user_data_file, user_data.error().message);
  for (const char* folder : {kRunFolder, kStateFolder})
    if (auto made = put_folder(folder); !made) return tl::unexpected(made.error());
  return Link::make(std::move(*user_data), std::string(kStateFolder) + "/credential", slurm_version(processes));
}

int run(const char* user_data_file) {
  umask(022);
  prctl(PR_SET_DUMPABLE, 0);  // the credential and the munge key are in memory; what it starts may dump as it likes
  // Blocked in all threads and waited for below: pid 1 gets no signal that it does not ask for.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  Processes processes;

  auto link = make_link(user_data_file, processes);
  if (!link) {
    log::error("cannot start: {}", link.error().message);
    return 1;
  }
  Agent agent(std::move(*link), processes);
  std::thread([&] { agent.take_commands(); }).detach();
  std::thread([&] { agent.send_reports(); }).detach();
  std::thread([&] { agent.watch_health(); }).detach();

  int signal = 0;
  sigwait(&ending, &signal);
  log::info("{}: ending", strsignal(signal));
  agent.end_daemons();
  // The other threads wait for the network; nothing that they hold must be finished.
  _exit(0);
}

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "run" && argc == 4 && argv[2] == std::string_view("--user-data")) return run(argv[3]);
  if (command == "build" || command == "restart") return machine::build_main(argc, argv);
  if (command == "--version") return fmt::print("espalier-agent {}\n", kVersion), 0;
  if (command == "--help") return fmt::print("{}", kUsage), 0;
  fmt::print(stderr, "{}", kUsage);
  return 2;
}

}  // namespace

}  // namespace espalier::agent

int main(int argc, char** argv) { return espalier::agent::main(argc, argv); }
