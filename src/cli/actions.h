// What the commands do, one function each; commands.cc parses their options. Every action prints its own answer (with
// --json the operation's own) and returns what failed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/group_option.h"
#include "cli/requests.h"
#include "cli/serve_options.h"

namespace espalier::cli {

struct WaitOptions {
  std::optional<bool> wait;  // absent: when standard output is a terminal
  std::optional<Millis> timeout;
};

struct CreateOptions {
  std::string cluster;  // may be empty when the file has the name
  std::vector<GroupOption> groups;
  BaseGroups base;
  std::string from;  // file with a CreateCluster request, in place of groups
  WaitOptions wait;
};
Result<void> create_cluster(Context& context, const CreateOptions& options);
Result<void> list_clusters(Context& context);
Result<void> describe_cluster(Context& context, const std::string& cluster);
Result<void> scale_cluster(Context& context, const std::string& cluster, const std::vector<Resize>& sizes,
                           const WaitOptions& wait);
// New groups beside those that are there. kExists: one is there already.
Result<void> add_groups(Context& context, const std::string& cluster, const std::vector<GroupOption>& groups,
                        const WaitOptions& wait);
Result<void> delete_group(Context& context, const std::string& cluster, const std::string& group,
                          const WaitOptions& wait);
Result<void> delete_cluster(Context& context, const std::string& cluster, const WaitOptions& wait);

Result<void> show_nodes(Context& context, const std::string& cluster, const std::string& group = "");

struct EventOptions {
  std::string cluster;
  bool follow = false;
  std::string group;           // empty: all
  std::string level = "Info";  // this one and worse
};
Result<void> show_events(Context& context, const EventOptions& options);

// file: Slurm's topology file as written, instead of the drawing.
Result<void> show_topology(Context& context, const std::string& cluster, bool file = false);
// Whether slurmctld has it: revision, since when, how it was applied, what is pending; its blocks.
Result<void> show_topology_status(Context& context, const std::string& cluster);
// The choice and its reason, of the cluster and of each partition; or, of one node, where it is and why.
Result<void> explain_choice(Context& context, const std::string& cluster, const std::string& node = "");
// wish: auto, tree, block or off.
Result<void> set_topology(Context& context, const std::string& cluster, const std::string& wish);
// Why a node (its name, instance id or logical id) is where it is, what is tried next, and what happened to it.
Result<void> explain_node(Context& context, const std::string& cluster, const std::string& node);

// Why a job waits, and what would run now.
Result<void> explain_job(Context& context, const std::string& cluster, const std::string& job);
// Does the word name a job, and not a node?
bool is_job(const std::string& word);

struct CapacityOptions {
  std::vector<std::string> pools;  // "TYPE=N", "TYPE=unlimited", "TYPE"
  std::optional<Millis> launch_time;
  std::optional<double> failure_rate;
  std::string failure_class;
};
Result<void> show_capacity(Context& context);
Result<void> set_capacity(Context& context, const CapacityOptions& options);
// UpdateCapacity's body. kInvalid.
Result<json::object> capacity_request(const CapacityOptions& options);

Result<void> show_status(Context& context);

struct AccessKeyOptions {
  std::string name;
  std::string role = "ReadOnly";
  std::vector<std::string> clusters;  // empty: all
  std::optional<Millis> lifetime;     // a temporary key
};
// Prints the secret, once.
Result<void> create_access_key(Context& context, const AccessKeyOptions& options);
Result<void> rotate_access_key(Context& context, const std::string& id, std::optional<Millis> grace);
Result<void> revoke_access_key(Context& context, const std::string& id);
Result<void> list_access_keys(Context& context);

struct AuditOptions {
  std::string key;  // empty: any
  bool errors = false;
  std::size_t limit = 50;
};
// Newest first; with --json one record a line.
Result<void> show_audit(Context& context, const AuditOptions& options);

struct SshOptions {
  std::string cluster;
  std::string node;  // name or instance id
  std::string user = "ubuntu";
  std::vector<std::string> command;  // empty: a login shell
};
// Runs argv as the user in the machine of that folder, on our terminal; returns its exit code.
using EnterFunction = std::function<Result<int>(const std::string& folder, const std::vector<std::string>& argv,
                                                const std::string& user)>;
Result<int> ssh(Context& context, const SshOptions& options, const EnterFunction& enter);

struct UpOptions {
  std::string program;  // this executable
  std::string cluster = "demo";
  ServeOptions serve;
  std::optional<Millis> timeout;
};
// Starts a control plane in the background unless one answers, grows the example cluster, runs a job on it.
Result<void> up(Context& context, const UpOptions& options);
// Deletes all clusters, then stops the control plane that `up` started with this state folder.
Result<void> down(Context& context, const std::string& state);

}  // namespace espalier::cli
