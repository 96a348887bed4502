#include "main/serve.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "api/api.h"
#include "base/executor.h"
#include "base/file.h"
#include "base/log.h"
#include "base/timers.h"
#include "base/version.h"
#include "engine/engine.h"
#include "http/server.h"
#include "main/door.h"
#include "main/serve_simulated.h"
#include "provider/local/local.h"
#include "store/store.h"

namespace espalier {

namespace {

constexpr int kStepThreads = 4;
constexpr int kLaunchThreads = 512;  // they mostly wait; the provider bounds what it does at a time
constexpr int kProviderThreads = 16;
constexpr int kApiThreads = 8;
constexpr int kMostWaiting = 1000;  // requests that no thread has taken yet
constexpr int kAgentThreads = 2;
constexpr rlim_t kAgentConnections = 100'000;  // two of each machine
constexpr int kLargeBlock = 1 << 20;
constexpr Millis kGrace{2000};

std::filesystem::path agent_program(const cli::ServeOptions& options) {
  if (!options.agent_program.empty()) return options.agent_program;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "espalier-agent";
}

local::LocalSettings local_settings(const cli::ServeOptions& options) {
  local::LocalSettings settings;
  settings.state = options.state;
  settings.image = options.image.empty() ? settings.state / "image" : std::filesystem::path(options.image);
  std::istringstream more(options.more_images);
  for (std::string image; std::getline(more, image, ',');) settings.more_images.emplace_back(image);
  settings.agent = agent_program(options);
  settings.bridge = options.bridge;
  settings.subnet = options.subnet;
  settings.fabric = options.fabric;
  settings.capacity = options.capacity;
  settings.zone = options.region + "a";
  return settings;
}

void set_log_level(const std::string& name) {
  using enum log::Level;
  log::set_level(name == "debug" ? kDebug : name == "warn" ? kWarn : name == "error" ? kError : kInfo);
}

// Every connection is a file, and the bound that shells give is for interactive programs.
rlim_t open_files_as_allowed() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_cur;
}

// However many connections there are, files are left for the store, for launches and for the other listener.
http::Limits api_limits(rlim_t files) {
  http::Limits limits;
  limits.connections = static_cast<int>(std::min<rlim_t>(static_cast<rlim_t>(limits.connections), files / 8));
  return limits;
}
http::Limits agent_limits(rlim_t files) {
  http::Limits limits;
  limits.connections = static_cast<int>(std::min(kAgentConnections, files / 4 * 3));
  if (files / 4 * 3 < kAgentConnections)
    log::info("{} files may be open at once: enough for some {} machines", files, limits.connections / 2);
  return limits;
}

Result<void> run(const cli::ServeOptions& options, const sigset_t& ending, rlim_t files) {
  auto endpoint = parse_endpoint(options.listen);
  if (!endpoint) return tl::unexpected(endpoint.error());
  if (auto fit = local::check_host(local_settings(options)); !fit) return fit;
  if (!options.s3_root.empty() && !std::filesystem::is_directory(options.s3_root))
    return fail(ErrorCode::kNotFound, "--s3-root {}: there is no such folder", options.s3_root);
  if (auto made = make_folder(options.state, 0711); !made) return made;
  auto store = store::sqlite_store(options.state + "/espalier.db");
  if (!store) return tl::unexpected(store.error());
  auto provider = local::LocalProvider::open(local_settings(options));
  if (!provider) return tl::unexpected(provider.error());

  SystemClock clock;
  auto door = open_door(options, *endpoint, **store, clock);
  if (!door) return tl::unexpected(door.error());
  std::optional<TimerThread> timers(std::in_place);
  engine::AgentHub hub(secret_hex(8), clock, *timers);
  const std::string agents_at = fmt::format("{}:{}", (*provider)->host_address(), options.agent_port);
  engine::Settings settings;
  settings.reconcile.whole_wait = std::chrono::seconds(options.all_or_nothing_seconds);
  auto agents_certificate = tls::pinned_certificate(options.state + "/tls", "agents");
  if (!agents_certificate) return tl::unexpected(agents_certificate.error());
  const auto pin = tls::fingerprint(agents_certificate->chain);
  if (!pin) return tl::unexpected(pin.error());
  const http::Tls agents_tls{std::move(*agents_certificate), true};
  settings.agent_url = fmt::format("https://{}#sha256={}", agents_at, *pin);
  hub.require_certificates();
  settings.reconcile.quotas = {options.max_cluster_instances, options.max_account_instances};

  settings.reconcile.credential_life = std::chrono::seconds(options.agent_credential_seconds);
  settings.reconcile.scripts = !options.s3_root.empty();
  ScriptFolder scripts(options.s3_root);

  ThreadPool steps(kStepThreads);
  ThreadPool provider_calls(kProviderThreads);
  ThreadPool launches(kLaunchThreads);
  engine::Engine engine({clock, steps, provider_calls, *timers, **store, **provider, hub, Random::from_system,
                         secret_hex, &launches, settings.reconcile.scripts ? &scripts : nullptr},
                        settings);
  (*provider)->on_change([&engine] { engine.capacity_changed(); });
  api::Api api({engine,
                provider->get(),
                {.account = options.account,
                 .default_region = options.region,
                 .version = kVersion,
                 .provider = (*provider)->name(),
                 .state_folder = options.state,
                 .image = local_settings(options).image,
                 .agent_endpoint = agents_at,
                 .newest_image =
                     [&] {
                       const auto images = (*provider)->images();
                       return images.empty() ? std::string() : images.front();
                     },
                 .machine_folder = [&](const MachineId& id) { return (*provider)->machine_folder(id).string(); }},
                door->gate.get(),
                door->audit.get()});
  ThreadPool api_calls(kApiThreads);
  std::atomic<int> waiting = 0;

  auto api_server = http::Server::listen(
      endpoint->address, endpoint->port,
      [&](http::Request request, http::Reply reply) {
        if (waiting.fetch_add(1) >= kMostWaiting) return --waiting, reply(api::too_busy());
        api_calls.post([&, request = std::move(request), reply = std::move(reply)]() mutable {
          --waiting;
          api.handle(std::move(request), std::move(reply));
        });
      },
      api_limits(files), 1, door->tls);
  if (!api_server) return tl::unexpected(api_server.error());
  auto agent_server = http::Server::listen(
      (*provider)->host_address(), static_cast<std::uint16_t>(options.agent_port),
      [&](http::Request request, http::Reply reply) { hub.handle(std::move(request), std::move(reply)); },
      agent_limits(files), kAgentThreads, agents_tls);
  if (!agent_server) return tl::unexpected(agent_server.error());
  if (auto started = engine.start(); !started) return started;
  hub.listen_for_silence();
  provider_calls.post([&engine] { engine.warn_of_strangers(); });
  log::info("espalier {} serves {}://{}:{} ({}), agents at {}, state in {}", kVersion,
            options.uses_tls() ? "https" : "http", endpoint->address, (*api_server)->port(), door->says, agents_at,
            options.state);

  int signal = 0;
  sigwait(&ending, &signal);
  log::info("{}: stopping; machines and jobs go on", strsignal(signal));
  (*api_server)->stop(kGrace);
  (*agent_server)->stop(Millis(100));
  (*provider)->stop();
  api_calls.stop();
  steps.stop();
  provider_calls.stop();
  launches.stop();
  (*provider)->on_change(nullptr);
  timers.reset();  // before what its callbacks use
  return {};
}

}  // namespace

int serve(const cli::ServeOptions& options) {
  set_log_level(options.log_level);
  prctl(PR_SET_DUMPABLE, 0);  // keys and credentials are in memory: no core dump, and no look into it by others
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);  // the room of long bodies is given back, not kept for the next ones
  const rlim_t files = open_files_as_allowed();
  sigset_t ending;  // blocked before the first thread starts, so that only sigwait takes them
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);
  if (auto ok = options.provider == "sim" ? serve_simulated(options, ending) : run(options, ending, files); !ok) {
    fmt::print(stderr, "espalier serve: {}\n", ok.error().message);
    return 1;
  }
  return 0;
}

}  // namespace espalier
