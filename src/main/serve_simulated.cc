#include "main/serve_simulated.h"

#include <pthread.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "base/version.h"
#include "main/door.h"
#include "simulate/real_time.h"
#include "store/sqlite/unflushed.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr Millis kGrace{2000};

// Machines of namespaces are real, and would be forgotten.
Result<void> check_folder(const cli::ServeOptions& options) {
  std::error_code ec;
  const auto machines = fs::path(options.state) / "machines";
  if (!fs::exists(machines, ec)) return {};
  return fail(ErrorCode::kInvalid, "--state {}: it belongs to a control plane with real machines ({}); name another",
              options.state, machines.string());
}

Result<void> check_options(const cli::ServeOptions& options) {
  for (const auto& [name, value] : {std::pair{"s3-root", options.s3_root},
                                    {"image", options.image},
                                    {"more-images", options.more_images},
                                    {"agent-program", options.agent_program}})
    if (!value.empty())
      return fail(ErrorCode::kInvalid,
                  "--{} {}: it is for real machines, simulated ones have no use for it: leave it out", name, value);
  return {};
}

// What a model's file says; the built-in one without a file.
template <typename Model>
Result<Model> read_model(const std::string& file, Result<Model> (*read)(const std::string&)) {
  if (file.empty()) return Model();
  return read_file(file).and_then(read).map_error(
      [&](const Error& e) { return Error{e.code, fmt::format("cannot use the model {}: {}", file, e.message)}; });
}

api::Settings api_settings(const cli::ServeOptions& options) {
  return {.account = options.account,
          .default_region = options.region,
          .version = kVersion,
          .provider = "sim",
          .state_folder = options.state,
          .image = {},
          .agent_endpoint = {},
          .newest_image = {},
          .machine_folder = {}};
}

}  // namespace

Result<void> serve_simulated(const cli::ServeOptions& options, const sigset_t& ending) {
  const auto endpoint = parse_endpoint(options.listen);
  if (!endpoint) return tl::unexpected(endpoint.error());
  if (auto fit = check_options(options).and_then([&] { return check_folder(options); }); !fit) return fit;
  auto fabric = read_model(options.fabric, sim::FabricModel::from_yaml);
  if (!fabric) return tl::unexpected(fabric.error());
  auto pools = read_model(options.capacity, sim::pools_from_yaml);
  if (!pools) return tl::unexpected(pools.error());
  if (auto made = make_folder(options.state, 0711); !made) return made;
  auto capacity = sim::CapacityModel::open(fs::path(options.state) / "capacity.json", std::move(*pools));
  if (!capacity) return tl::unexpected(capacity.error());
  auto store = store::unflushed_sqlite_store(options.state + "/espalier.db");
  if (!store) return tl::unexpected(store.error());
  const SystemClock clock;
  const auto door = open_door(options, *endpoint, **store, clock);
  if (!door) return tl::unexpected(door.error());

  reconcile::Settings reconcile;
  reconcile.whole_wait = std::chrono::seconds(options.all_or_nothing_seconds);
  reconcile.quotas = {options.max_cluster_instances, options.max_account_instances};
  const auto services = [&](engine::Engine& engine, Capacity& shown) {
    return api::Services{engine, &shown, api_settings(options), door->gate.get(), door->audit.get()};
  };
  simulate::RealTime world({**store, std::move(*fabric), std::move(*capacity), options.sim_speed, reconcile, services});
  auto server = http::Server::listen(
      endpoint->address, endpoint->port,
      [&world](http::Request request, http::Reply reply) { world.handle(std::move(request), std::move(reply)); }, {}, 1,
      door->tls);
  if (!server) return tl::unexpected(server.error());
  log::info("espalier {} serves {}://{}:{} ({}) with simulated machines, {} times faster than the clock, state in {}",
            kVersion, options.uses_tls() ? "https" : "http", endpoint->address, (*server)->port(), door->says,
            options.sim_speed, options.state);

  std::thread listener([&] {
    int signal = 0;
    sigwait(&ending, &signal);
    log::info("{}: stopping; the simulated machines end", strsignal(signal));
    world.stop();
  });
  auto lived = world.live();
  pthread_kill(listener.native_handle(), SIGTERM);  // it waits still when the world has ended by itself
  listener.join();
  (*server)->stop(lived ? kGrace : Millis(0));
  return lived;
}

}  // namespace espalier
