// `idle_agents [COUNT [SECONDS]]`: what that many machines cost the control plane by being there. Each agent has two
// TLS connections with its certificate, as the real one: a long poll, and a report every heartbeat. The callers are a
// process of their own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "base/random.h"
#include "engine/agent_hub.h"

namespace espalier::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Stream = asio::ssl::stream<tcp::socket>;
using ErrorCode = boost::system::error_code;

constexpr int kHandshakesAtOnce = 64;

// ---- the machines

class Machines {
 public:
  Machines(std::uint16_t port, const tls::Certificate& own, int count)
      : to_(asio::ip::address_v4::loopback(), port), count_(2 * count) {
    context_.use_certificate_chain(asio::buffer(own.chain));
    context_.use_private_key(asio::buffer(own.key), asio::ssl::context::pem);
  }
  void run() {
    for (int i = 0; i < kHandshakesAtOnce; ++i) start_next();
    io_.run();
  }

 private:
  struct Caller {
    Caller(asio::io_context& io, asio::ssl::context& context) : stream(io, context), timer(io) {}
    Stream stream;
    asio::steady_timer timer;
    std::string request;
    asio::streambuf answer{};
    bool reports = false;
  };
  using CallerPtr = std::shared_ptr<Caller>;

  void start_next() {
    if (started_ >= count_) return;
    const int number = started_++;
    const auto caller = std::make_shared<Caller>(io_, context_);
    caller->reports = number % 2 == 1;
    const std::string body =
        caller->reports
            ? R"({"boot":"b","health":{"machine_id":"m","booted_at":1,"gpus":8,"disks":[{"path":"/","free_bytes":5,"total_bytes":9}]},"daemons":[{"name":"slurmd","running":true}]})"
            : R"({"agent_boot":"b","control_plane_boot":"bench"})";
    caller->request =
        fmt::format("POST /{} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer m-{}\r\nContent-Length: {}\r\n\r\n{}",
                    caller->reports ? "report" : "next", number / 2, body.size(), body);
    caller->stream.lowest_layer().async_connect(to_, [this, caller](ErrorCode error) {
      if (error) return lost(error);
      caller->stream.async_handshake(asio::ssl::stream_base::client, [this, caller](ErrorCode failed) {
        if (failed) return lost(failed);
        start_next();
        ask(caller);
      });
    });
  }
  void ask(const CallerPtr& caller) {
    asio::async_write(caller->stream, asio::buffer(caller->request), [this, caller](ErrorCode error, std::size_t) {
      if (error) return lost(error);
      asio::async_read_until(caller->stream, caller->answer, "\r\n\r\n",
                             [this, caller](ErrorCode failed, std::size_t n) {
                               if (failed) return lost(failed);
                               read_body(caller, n);
                             });
    });
  }
  void read_body(const CallerPtr& caller, std::size_t head) {
    const auto* data = static_cast<const char*>(caller->answer.data().data());
    const std::string text(data, head);
    const auto at = text.find("Content-Length: ");
    const auto length = std::strtoul(text.c_str() + at + 16, nullptr, 10);
    const auto have = caller->answer.size() - head;
    const auto again = [this, caller](ErrorCode error, std::size_t) {
      if (error) return lost(error);
      caller->answer.consume(caller->answer.size());
      if (!caller->reports) return ask(caller);
      caller->timer.expires_after(agent::kHeartbeat);
      caller->timer.async_wait([this, caller](ErrorCode) { ask(caller); });
    };
    asio::async_read(caller->stream, caller->answer, asio::transfer_exactly(length - std::min(length, have)), again);
  }
  void lost(ErrorCode error) {
    if (++lost_ <= 3) std::cerr << "a connection was lost: " << error.message() << "\n";
  }

  asio::io_context io_{1};
  asio::ssl::context context_{asio::ssl::context::tls_client};
  const tcp::endpoint to_;
  const int count_;
  int started_ = 0;
  int lost_ = 0;
};

// ---- the control plane's side

class Listener final : public engine::AgentListener {
 public:
  void agent_enrols(const agent::Enrol&, const std::string&, EnrolReply) override {}
  void agent_renews(const MachineId&, const std::string&, EnrolReply) override {}
  std::optional<MachineId> authenticate(const std::string& credential, const std::string&) override {
    return MachineId(credential);
  }
  std::shared_ptr<const std::string> hosts(const MachineId&) override { return nullptr; }
  void agent_here(const MachineId&) override { ++here; }
  void agent_reports(const MachineId&, agent::Report) override { ++reports; }
  void agent_silent(const MachineId&, Time) override { ++silent; }
  std::atomic<int> here = 0, silent = 0;
  std::atomic<std::int64_t> reports = 0;
};

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return static_cast<double>(std::atoll(line.c_str() + 6)) / 1024;
  return 0;
}
double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

int serve(int to_callers, const std::filesystem::path& folder, int count, std::chrono::seconds length) {
  SystemClock clock;
  std::optional<TimerThread> timers(std::in_place);
  engine::AgentHub hub("bench", clock, *timers);
  Listener listener;
  hub.set_listener(&listener);
  hub.require_certificates();
  hub.listen_for_silence();
  http::Limits limits;
  limits.connections = limits.connections_per_address = 2 * count + 10;
  const http::Tls tls{tls::pinned_certificate(folder, "agents").value(), true};
  const auto server =
      std::move(http::Server::listen(
                    "127.0.0.1", 0, [&](http::Request q, http::Reply r) { hub.handle(std::move(q), std::move(r)); },
                    limits, 2, tls)
                    .value());
  const double before = resident_mib(), before_cpu = cpu_seconds();
  const std::uint16_t port = server->port();
  if (write(to_callers, &port, sizeof port) != sizeof port) return 1;
  while (listener.here < count || listener.reports < count) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::cout << fmt::format("{} agents have called: {:.0f} s of CPU for their {} handshakes\n", count,
                           cpu_seconds() - before_cpu, 2 * count);
  const auto reports = listener.reports.load();
  const double start_cpu = cpu_seconds();
  std::this_thread::sleep_for(length);
  std::cout << fmt::format(
      "idle for {} s: {:.0f} MiB for them ({:.1f} KiB each), {:.1f} % of one core, {:.0f} reports a second, {} "
      "silent\n",
      length.count(), resident_mib() - before, (resident_mib() - before) * 1024 / count,
      (cpu_seconds() - start_cpu) * 100 / static_cast<double>(length.count()),
      static_cast<double>(listener.reports - reports) / static_cast<double>(length.count()), listener.silent.load());
  timers.reset();  // before what its callbacks use
  return listener.silent == 0 ? 0 : 1;
}

void open_files_as_allowed() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int main(int count, std::chrono::seconds length) {
  open_files_as_allowed();
  const auto folder = std::filesystem::temp_directory_path() / ("espalier-bench-" + secret_hex(8));
  int pipes[2];
  if (pipe(pipes) != 0) return 1;
  const pid_t callers = fork();
  if (callers == 0) {
    std::uint16_t port = 0;
    if (read(pipes[0], &port, sizeof port) == sizeof port)
      Machines(port, tls::new_certificate("machine").value(), count).run();
    _exit(0);
  }
  const int status = serve(pipes[1], folder, count, length);
  kill(callers, SIGKILL);
  waitpid(callers, nullptr, 0);
  std::filesystem::remove_all(folder);
  return status;
}

}  // namespace
}  // namespace espalier::bench

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 10'000;
  return espalier::bench::main(count, std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 60));
}
