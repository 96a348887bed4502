// What `espalier serve` is told. Plain data: main() hands it to the engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::cli {

struct ServeOptions {
  std::string state = "/var/lib/espalier";
  std::string listen = "127.0.0.1:8650";
  std::string tls;  // off, self-signed, files; empty: off on loopback
  std::string tls_cert, tls_key;
  std::string key_file;           // empty: <state>/access.key
  int requests_per_second = 100;  // of one access key; 0: no bound
  int agent_port = 8651;
  int agent_credential_seconds = 24 * 3600;
  std::string provider = "local";  // local, sim
  int sim_speed = 1;               // of a simulated provider: so many times faster than the clock
  std::string account = "123456789012";
  std::string region = "us-west-2";
  std::string image;          // empty: <state>/image
  std::string more_images;    // folders, separated by commas
  std::string agent_program;  // empty: espalier-agent beside this executable
  std::string fabric;         // files; empty: the built-in model
  std::string capacity;
  std::string s3_root;  // folder that stands for S3; empty: lifecycle scripts are not run
  std::string bridge = "espalier0";
  std::string subnet = "10.77.0.0/16";
  int max_cluster_instances = 0;  // 0: no bound
  int max_account_instances = 0;
  int all_or_nothing_seconds = 20 * 60;
  std::string log_level = "info";  // debug, info, warn, error
  bool operator==(const ServeOptions&) const = default;

  // What `tls` comes to.
  [[nodiscard]] bool uses_tls() const { return tls == "self-signed" || tls == "files" || !tls_cert.empty(); }
  // Of the API.
  [[nodiscard]] std::string url() const { return (uses_tls() ? "https://" : "http://") + listen; }
};

// Calls f(name, member, help) for every option: the one list from which the command line, the environment variables and
// the arguments of a background `serve` are made.
template <typename Options, typename F>
void for_each_option(Options& o, F&& f) {
  f("state", o.state, "Folder for everything that outlives a restart");
  f("listen", o.listen, "Address and port of the API; beyond this host only with access keys, and TLS or --tls off");
  f("tls", o.tls, "off, self-signed, or files: those of --tls-cert and --tls-key");
  f("tls-cert", o.tls_cert, "File with the API's certificate and its chain (PEM)");
  f("tls-key", o.tls_key, "File with the certificate's private key (PEM)");
  f("key-file", o.key_file, "Key that closes the secrets of access keys in the database (default: <state>/access.key)");
  f("requests-per-second", o.requests_per_second,
    "Requests of one access key, on average; twice as many at once; 0: no bound");
  f("agent-port", o.agent_port, "Port on which the machines' agents report, at the bridge's address");
  f("agent-credential-seconds", o.agent_credential_seconds,
    "Age at which a machine's agent renews its key, certificate and credential; 0: never");
  f("provider", o.provider, "local: machines are namespaces of this host; sim: models, without root");
  f("sim-speed", o.sim_speed, "So many times faster than the clock live the machines of --provider sim, 1 to 1000");
  f("account", o.account, "Account id in ARNs, 12 digits");
  f("region", o.region, "Region of requests that are not signed for one");
  f("image", o.image, "Root file system of the machines (default: <state>/image)");
  f("more-images", o.more_images, "Other releases of it, separated by commas, for UpdateClusterSoftware");
  f("agent-program", o.agent_program, "The agent (default: espalier-agent beside this program)");
  f("fabric", o.fabric, "File with the fabric model (default: built in)");
  f("capacity", o.capacity, "File with the capacity model (default: no bound)");
  f("s3-root", o.s3_root, "Folder in which s3://BUCKET/PREFIX is BUCKET/PREFIX; without it no lifecycle scripts run");
  f("bridge", o.bridge, "Network bridge of the machines, made when absent; 15 characters at most");
  f("subnet", o.subnet, "Addresses of the machines");
  f("max-cluster-instances", o.max_cluster_instances, "Quota of instances in one cluster, 0: none");
  f("max-account-instances", o.max_account_instances, "Quota of instances in all clusters, 0: none");
  f("all-or-nothing-seconds", o.all_or_nothing_seconds,
    "How long a change of a cluster without NodeProvisioningMode may take before all of it goes back");
  f("log-level", o.log_level, "debug, info, warn or error");
}

// What is wrong with an option's value, for which the text alone is enough; "" when nothing is. Any option may be
// asked.
std::string fault(std::string_view option, std::string_view value);
// "agent-port" → "ESPALIER_AGENT_PORT".
std::string environment_name(std::string_view option);
// The options as arguments of `serve`: parsing them gives the same options. Empty ones are left out.
std::vector<std::string> to_arguments(const ServeOptions& options);

}  // namespace espalier::cli
