// A machine that was launched: it boots, its agent enrols, takes commands and reports, its daemons run, until it ends.
//
// The agent speaks to the control plane as the real one does, in JSON texts; its outbox is the real one's.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/outbox.h"
#include "cloud.h"
#include "engine/agent_hub.h"
#include "network.h"
#include "slurm.h"

namespace espalier::sim {

// How long things take on a machine, from – to.
struct MachinePace {
  Millis boot_from{500}, boot_to{20'000};
  Millis setup_from{100}, setup_to{3'000};
  Millis slurm_from{10}, slurm_to{200};
  Millis register_every{1'000};
  engine::AgentPace agent;
};

class Machine : public std::enable_shared_from_this<Machine> {
 public:
  // `slurm` is its cluster's: it keeps its state where it outlives the controller machine. `keeps_hosts`: its
  // /etc/hosts, n names on n machines.
  Machine(Nature& nature, Network& network, Slurm& slurm, const MachinePace& pace, const Cloud::Made& made,
          bool keeps_hosts);

  void boot();
  // It ends, by itself or terminated. Its connections break, its jobs end.
  void end();
  // The agent's process starts anew and knows nothing of before; daemons go on.
  void restart_agent();
  // It starts anew and keeps its disk; what ran on it ends.
  void reboot();
  // slurmctld on it stops for a while; it starts from an old state when `forgets`.
  void restart_slurmctld(Millis length, bool forgets);

  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] bool runs_slurmctld() const { return alive_ && set_up_ && request_.role == NodeType::Controller; }
  [[nodiscard]] const MachineId& id() const { return id_; }
  [[nodiscard]] const std::string& node() const { return request_.host_name; }
  [[nodiscard]] const std::string& address() const { return address_; }
  // Its /etc/hosts: name → address.
  [[nodiscard]] const std::map<std::string, std::string>& hosts() const { return hosts_; }
  [[nodiscard]] const LaunchRequest& request() const { return request_; }

 private:
  template <typename Then>
  void later(Millis delay, Then then);  // unless the machine or this run of the agent has ended
  void stop_daemons();
  void start_agent();
  void call(const std::string& path, std::string body, Millis timeout,
            std::function<void(const http::Response&)> answer, std::function<void(bool refused)> failed);
  void enrol(std::function<void(bool refused)> failed, std::function<void()> done);
  void poll();
  void poll_failed(bool refused);
  void take(const std::string& body);
  void next_command();
  void bring_hosts(std::function<void()> done);
  void change_hosts(const agent::HostsDelta& delta);
  void carry_out(const agent::Command& command);
  agent::CommandResult set_up(const agent::Command& command);
  void flush(bool heartbeat);
  void heartbeat();
  void look(bool wide);
  void look_widely();
  void look_closely();
  void try_to_register();
  [[nodiscard]] agent::HealthView health() const;

  Nature& nature_;
  Network& network_;
  Slurm& slurm_;
  const MachinePace& pace_;
  const MachineId id_;
  const std::string address_;
  const LaunchRequest request_;
  const bool keeps_hosts_;
  bool alive_ = true;
  bool set_up_ = false;
  bool slurmd_ = false;            // it runs, and tries to register until it has
  bool slurmd_is_broken_ = false;  // it never registers
  bool has_files_ = false;         // a controller's, in /etc/slurm
  const Millis clock_ahead_;
  bool registered_ = false;
  std::map<std::string, std::string> hosts_;

  // The agent.
  int run_ = 0;
  std::string boot_;
  std::string credential_;  // kept on its disk
  std::string refused_;
  std::string control_plane_boot_;
  std::int64_t acknowledged_ = 0;
  Time polled_{};         // when the poll went out whose answer was taken last
  Time decided_after_{};  // and the one before: what was taken last was decided after that
  std::unique_ptr<agent::Outbox> outbox_;
  std::deque<agent::Command> commands_;
  bool news_ = false;      // the outbox may have some
  std::int64_t seen_ = 0;  // version of Slurm's nodes that the outbox has
  bool reporting_ = false;
  Millis poll_pause_{0};
  Millis hosts_pause_{0};
  Millis report_pause_{0};
  std::string closely_;
};

}  // namespace espalier::sim
