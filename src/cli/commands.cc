// The commands, their options and their help. Only this file and topology_commands.cc know CLI11, which compiles
// slowly.
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "cli/actions.h"
#include "cli/cli.h"
#include "cli/credentials.h"
#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/nearest.h"
#include "cli/topology_commands.h"
#include "machine/enter.h"
#include "model/names.h"

namespace espalier::cli {

namespace {

constexpr const char* kDefaultEndpoint = "http://127.0.0.1:8650";
constexpr const char* kRootHelp = R"(Environment:
  ESPALIER_ENDPOINT                        the control plane, as --endpoint
  ESPALIER_REGION, AWS_REGION, AWS_DEFAULT_REGION
                                           the region, as --region
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE
                                           the access key to sign with, when it is one of Espalier's;
                                           root on the control plane's host needs none
  AWS_CA_BUNDLE                            as --ca-bundle
  ESPALIER_<OPTION>                        every option of `serve`: ESPALIER_STATE, ESPALIER_LISTEN …
  NO_COLOR                                 no colours
Exit codes:
  0 done   1 failed   2 wrong usage or invalid request   3 not found   4 no connection to the control plane)";

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

Result<int> enter_as_root(const std::string& folder, const std::vector<std::string>& argv, const std::string& user) {
  if (geteuid() == 0) return machine::enter(folder, argv, user);
  return fail(ErrorCode::kPermission, "Entering a machine takes root's rights on this host: run it with sudo");
}

// None is no failure.
std::vector<std::string> failure_classes() {
  std::vector<std::string> names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<FailureClass>>([&names](auto enumerator) {
    if (enumerator.value != FailureClass::None) names.emplace_back(enumerator.name);
  });
  return names;
}

// One of these words, for what the API calls it.
CLI::Validator one_of(std::map<std::string, std::string> words) {
  std::vector<std::string> allowed;
  for (const auto& [word, name] : words) allowed.push_back(word);
  const auto list = fmt::format("{}", fmt::join(allowed, ", "));
  return CLI::Validator(
      [words = std::move(words), list](std::string& text) {
        const auto found = words.find(CLI::detail::to_lower(text));
        if (found == words.end()) return fmt::format("'{}' is none of {}", text, list);
        text = found->second;
        return std::string();
      },
      "");
}

using Action = std::function<Result<int>(Context&)>;

class CommandLine {
 public:
  CommandLine(const std::string& version, const ServeFunction& serve, const SimulateFunction& simulate)
      : serve_(serve), simulate_(simulate) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "espalier " + version, "Print the version of this program");
    app_.footer(kRootHelp);
    app_.get_formatter()->column_width(36);
    add_common(app_);
    add_serve();
    add_up();
    add_down();
    add_clusters();
    add_nodes();
    add_events();
    add_explain();
    add_topology();
    add_capacity();
    add_ssh();
    add_access();
    add_audit();
    add_status();
    add_simulate();
  }

  // What follows "--" is the command of `ssh`, which CLI11 must not read.
  int run(int argc, char** argv) {
    const auto mark = std::find(argv, argv + argc, std::string_view("--"));
    if (mark != argv + argc) behind_mark_.assign(mark, argv + argc);
    try {
      app_.parse(static_cast<int>(mark - argv), argv);
    } catch (const CLI::ParseError& error) {
      return explain(error);
    }
    if (!behind_mark_.empty() && !app_.got_subcommand("ssh"))
      return complain("Only `espalier ssh` takes words after --", kUsage);
    return act();
  }

 private:
  static int complain(const std::string& message, int code) {
    std::cerr << "espalier: " << message << '\n';
    return code;
  }

  // CLI11 says of a mistyped command only that one is missing.
  int explain(const CLI::ParseError& error) {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    const auto words = app->remaining();
    if (error.get_exit_code() == 0 || app->get_require_subcommand_min() == 0 || words.empty())
      return app_.exit(error, std::cout, std::cerr) == 0 ? kOk : kUsage;
    std::vector<std::string> names;
    for (const auto* command : app->get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(command->get_name());
    return complain(fmt::format("There is no command '{}'.{}", words[0], suggestion(words[0], names)), kUsage);
  }

  // Options that stand before the command as well as after it.
  void add_common(CLI::App& app) {
    app.add_option("--endpoint", endpoint_,
                   std::string("URL of the control plane (default: ") + kDefaultEndpoint + ")");
    app.add_option("--region", region_, "Region to work in (default: us-west-2)");
    app.add_option("--ca-bundle", ca_bundle_, "File of the certificates to trust, for an https endpoint");
    app.add_flag("--json", json_, "Print the operation's answer as JSON");
  }

  CLI::App* add_group(CLI::App& parent, const char* name, const char* help) {
    CLI::App* app = parent.add_subcommand(name, help);
    app->require_subcommand(1);
    return app;
  }

  CLI::App* add_command(CLI::App& parent, const char* name, const char* help, const std::string& examples) {
    CLI::App* app = parent.add_subcommand(name, help);
    app->footer("Examples:\n" + examples);
    add_common(*app);
    return app;
  }

  // What to do when this command was given. As the callback of a complete parse it makes CLI11 read the environment of
  // this command only.
  void act_on(CLI::App* app, Action action) {
    app->parse_complete_callback([this, action = std::move(action)] { action_ = action; });
  }
  template <typename F>
  void do_on(CLI::App* app, F action) {
    act_on(app, [action](Context& context) -> Result<int> {
      if (auto ok = action(context); !ok) return tl::unexpected(ok.error());
      return kOk;
    });
  }

  // An option whose text one of our parsers reads: its error is a usage error.
  template <typename Parser, typename Store>
  static CLI::Option* add_parsed(CLI::App* app, const std::string& name, Parser parser, Store store, const char* help) {
    const auto read = [name, parser, store](const std::vector<std::string>& texts) {
      for (const auto& text : texts) {
        auto value = parser(text);
        if (!value) throw CLI::ValidationError(name, value.error().message);
        store(std::move(*value));
      }
    };
    return app->add_option_function<std::vector<std::string>>(name, read, help)->allow_extra_args(false);
  }

  static void add_cluster_name(CLI::App* app, std::string& cluster) {
    app->add_option("CLUSTER", cluster, "Name or ARN of the cluster")->required();
  }

  static void add_wait(CLI::App* app, WaitOptions& wait) {
    app->add_flag_function(
        "--wait,!--no-wait", [&wait](std::int64_t n) { wait.wait = n > 0; },
        "Show progress until it is done (default: on a terminal)");
    add_timeout(app, wait.timeout);
  }

  static void add_timeout(CLI::App* app, std::optional<Millis>& timeout) {
    add_parsed(
        app, "--timeout", parse_duration, [&timeout](Millis t) { timeout = t; }, "Wait no longer, as in 5m")
        ->expected(1);
  }

  static void add_serve_options(CLI::App* app, ServeOptions& options) {
    for_each_option(options, [app](const std::string& name, auto& value, const char* help) {
      if (name == "region") return;  // every command has it
      auto* option = app->add_option("--" + name, value, help)
                         ->envname(environment_name(name))
                         ->take_last()
                         ->group("Control plane");
      option->check([name](const std::string& text) { return fault(name, text); }, "");
      if constexpr (std::is_same_v<decltype(value), int&>)
        option->check(CLI::NonNegativeNumber)->capture_default_str();
      else if (!value.empty())
        option->capture_default_str();
    });
    app->get_option("--log-level")->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  }

  void add_serve() {
    auto* app = add_command(app_, "serve", "Run the control plane in the foreground, as root",
                            "  espalier serve\n  espalier serve --listen 127.0.0.1:9000 --state /srv/espalier\n");
    add_serve_options(app, serve_options_);
    act_on(app, [this](Context&) -> Result<int> {
      serve_options_.region = region();
      return serve_(serve_options_);
    });
  }

  void add_up() {
    auto* app = add_command(app_, "up", "Start a control plane in the background, grow an example cluster, run a job",
                            "  espalier up\n  espalier up --cluster mine --timeout 5m\n");
    app->add_option("--cluster", up_.cluster, "Name of the example cluster")->capture_default_str();
    add_timeout(app, up_.timeout);
    add_serve_options(app, up_.serve);
    do_on(app, [this](Context& context) {
      up_.serve.region = region();
      return up(context, up_);
    });
    up_.program = std::filesystem::read_symlink("/proc/self/exe").string();
  }

  void add_down() {
    auto* app = add_command(app_, "down", "Delete all clusters, then stop what `up` started", "  espalier down\n");
    app->add_option("--state", state_, "State folder of the control plane")
        ->envname(environment_name("state"))
        ->capture_default_str();
    do_on(app, [this](Context& context) { return down(context, state_); });
  }

  void add_clusters() {
    auto* group = add_group(app_, "cluster", "Create, list, describe, scale and delete clusters, and their groups");
    add_create(*group);
    auto* list = add_command(*group, "list", "All clusters of the region", "  espalier cluster list --json\n");
    do_on(list, list_clusters);
    auto* describe = add_command(*group, "describe", "A cluster and its groups", "  espalier cluster describe demo\n");
    add_cluster_name(describe, cluster_);
    do_on(describe, [this](Context& context) { return describe_cluster(context, cluster_); });
    add_scale(*group);
    add_group_commands(*group);
    auto* remove = add_command(*group, "delete", "Delete a cluster with all its machines, jobs and files",
                               "  espalier cluster delete demo --wait\n");
    add_cluster_name(remove, cluster_);
    add_wait(remove, wait_);
    do_on(remove, [this](Context& context) { return delete_cluster(context, cluster_, wait_); });
  }

  void add_create(CLI::App& group) {
    auto* app = add_command(group, "create", "Create a cluster; a controller and a login machine come by themselves",
                            "  espalier cluster create demo --group name=worker,type=ml.p5.48xlarge,count=8,"
                            "partition=gpu\n  espalier cluster create --from request.json --no-wait\n");
    app->add_option("NAME", create_.cluster, "Name of the cluster");
    add_group_option(app);
    app->add_option("--from", create_.from, "File with a CreateCluster request, in place of --group");
    app->add_option("--controller-type", create_.base.controller_type, "Type of the controller")->capture_default_str();
    app->add_option("--login-type", create_.base.login_type, "Type of the login machine")->capture_default_str();
    app->add_flag("!--no-login", create_.base.login, "No login machine");
    add_wait(app, create_.wait);
    do_on(app, [this](Context& context) { return create_cluster(context, create_); });
  }

  CLI::Option* add_group_option(CLI::App* app) {
    return add_parsed(
        app, "--group", parse_group, [this](GroupOption g) { create_.groups.push_back(std::move(g)); },
        "name=,type=[,count=,partition=,kind=compute|controller|login,min=,threads=,role=]; again for more");
  }

  void add_group_commands(CLI::App& group) {
    auto* add = add_command(group, "add-group", "Add groups of machines to a cluster",
                            "  espalier cluster add-group demo --group name=spare,type=ml.p5.48xlarge,count=2,"
                            "partition=gpu\n");
    add_cluster_name(add, cluster_);
    add_group_option(add)->required();
    add_wait(add, wait_);
    do_on(add, [this](Context& context) { return add_groups(context, cluster_, create_.groups, wait_); });
    auto* remove = add_command(group, "delete-group", "Delete a group of a cluster with its machines",
                               "  espalier cluster delete-group demo spare --wait\n");
    add_cluster_name(remove, cluster_);
    remove->add_option("GROUP", group_, "Name of the group")->required();
    add_wait(remove, wait_);
    do_on(remove, [this](Context& context) { return delete_group(context, cluster_, group_, wait_); });
  }

  void add_scale(CLI::App& group) {
    auto* app = add_command(group, "scale", "Set how many machines groups have",
                            "  espalier cluster scale demo worker=16\n  espalier cluster scale demo worker=4 cpu=0\n");
    add_cluster_name(app, cluster_);
    add_parsed(
        app, "GROUP=N", parse_resize, [this](Resize r) { sizes_.push_back(std::move(r)); }, "New sizes")
        ->required()
        ->allow_extra_args()
        ->expected(1, 100);
    add_wait(app, wait_);
    do_on(app, [this](Context& context) { return scale_cluster(context, cluster_, sizes_, wait_); });
  }

  void add_nodes() {
    auto* app = add_command(app_, "nodes", "The nodes of a cluster: life cycle, Slurm's view, place in the network",
                            "  espalier nodes demo\n  espalier nodes demo --group worker\n");
    add_cluster_name(app, cluster_);
    app->add_option("--group", group_, "Only this group's (tables only)");
    do_on(app, [this](Context& context) { return show_nodes(context, cluster_, group_); });
  }

  void add_events() {
    auto* app = add_command(app_, "events", "What happened to a cluster, oldest first; with --json one event a line",
                            "  espalier events demo --follow\n  espalier events demo --level warn\n");
    add_cluster_name(app, events_.cluster);
    app->add_flag("--follow,-f", events_.follow, "Go on until the cluster is gone");
    app->add_option("--group", events_.group, "Only this group's");
    app->add_option("--level", events_.level, "info, warn or error: this and worse")
        ->transform(one_of({{"info", "Info"}, {"warn", "Warn"}, {"error", "Error"}}));
    do_on(app, [this](Context& context) { return show_events(context, events_); });
  }

  void add_explain() {
    auto* app =
        add_command(app_, "explain", "Why a job waits and what would run; why a node is where it is and what is next",
                    "  espalier explain demo 42\n  espalier explain demo p5-3\n"
                    "  espalier explain demo i-0123456789abcdef0\n");
    add_cluster_name(app, cluster_);
    app->add_option("JOB|NODE", node_, "A job's number, or a node's Slurm name, instance id or logical id")->required();
    do_on(app, [this](Context& context) {
      return is_job(node_) ? explain_job(context, cluster_, node_) : explain_node(context, cluster_, node_);
    });
  }

  void add_topology() {
    auto* group = add_group(app_, "topology", "The network of a cluster, of Espalier's or of any Slurm's");
    auto* show = add_command(*group, "show", "The topology that Slurm has, drawn",
                             "  espalier topology show demo\n  espalier topology show demo --file\n");
    add_cluster_name(show, cluster_);
    show->add_flag("--file", topology_file_, "Slurm's topology file instead");
    do_on(show, [this](Context& context) { return show_topology(context, cluster_, topology_file_); });
    auto* status =
        add_command(*group, "status", "Whether Slurm has it: since when, how it was applied, what is pending",
                    "  espalier topology status demo\n");
    add_cluster_name(status, cluster_);
    do_on(status, [this](Context& context) { return show_topology_status(context, cluster_); });
    auto* set = add_command(*group, "set", "Which topology a cluster is to have, from now on",
                            "  espalier topology set demo block\n  espalier topology set demo auto\n");
    add_cluster_name(set, cluster_);
    set->add_option("WISH", topology_wish_, "auto (by the instance types), tree, block, or off (flat)")
        ->required()
        ->check(CLI::IsMember({"auto", "tree", "block", "off"}));
    do_on(set, [this](Context& context) { return set_topology(context, cluster_, topology_wish_); });
    add_topology_commands(*group, topology_,
                          {.add = [this](auto&&... what) { return add_command(what...); },
                           .act_on = [this](CLI::App* app, Action action) { act_on(app, std::move(action)); }});
  }

  void add_capacity() {
    auto* group = add_group(app_, "capacity", "What the local provider has to give");
    auto* show = add_command(*group, "show", "The pools: machines there are, and in use", "  espalier capacity show\n");
    do_on(show, show_capacity);
    auto* set =
        add_command(*group, "set", "Change pools, at once; what is in use stays",
                    "  espalier capacity set ml.p5.48xlarge=6\n  espalier capacity set ml.p5.48xlarge=unlimited\n"
                    "  espalier capacity set ml.p5.48xlarge --launch-time 2s --failure-rate 0.1\n");
    set->add_option("TYPE=N", capacity_.pools, "Instance type, and its machines or `unlimited`")->required();
    add_parsed(
        set, "--launch-time", parse_duration, [this](Millis t) { capacity_.launch_time = t; },
        "How long a launch takes, as in 2s")
        ->expected(1);
    set->add_option("--failure-rate", capacity_.failure_rate, "Share of launches that fail")
        ->check(CLI::Range(0.0, 1.0));
    set->add_option("--failure-class", capacity_.failure_class, "How they fail")
        ->check(CLI::IsMember(failure_classes()));
    do_on(set, [this](Context& context) { return set_capacity(context, capacity_); });
  }

  void add_ssh() {
    auto* app = add_command(app_, "ssh",
                            "Enter a machine of this host (as root): a shell, or the COMMAND… that follows the node",
                            "  espalier ssh demo login-1\n  espalier ssh demo login-1 srun -N8 hostname\n"
                            "  espalier ssh demo login-1 'squeue | head'\n"
                            "  espalier ssh demo worker-3 --user root -- ps ax\n");
    app->add_option("CLUSTER", ssh_.cluster, "Name or ARN of the cluster")->required();
    app->add_option("NODE", ssh_.node, "Name of the node, or its instance id")->required();
    app->add_option("--user", ssh_.user, "Whom to be there")
        ->check(CLI::IsMember({"ubuntu", "root"}))
        ->capture_default_str();
    app->prefix_command();
    act_on(app, [this, app](Context& context) {
      ssh_.command = app->remaining();
      const bool began = !ssh_.command.empty();  // then the "--" is a word of the command
      ssh_.command.insert(ssh_.command.end(), behind_mark_.begin() + (began || behind_mark_.empty() ? 0 : 1),
                          behind_mark_.end());
      return ssh(context, ssh_, enter_as_root);
    });
  }

  void add_access() {
    auto* group = add_group(app_, "access", "Who may call the API: access keys");
    auto* create = add_command(*group, "create", "Make an access key; its secret is shown once",
                               "  espalier access create ci --role operator --cluster demo\n"
                               "  espalier access create visitor --lifetime 8h\n");
    create->add_option("NAME", key_.name, "Whose it is")->required();
    create->add_option("--role", key_.role, "read-only, operator or admin")
        ->transform(one_of({{"read-only", "ReadOnly"}, {"operator", "Operator"}, {"admin", "Admin"}}))
        ->default_str("read-only");
    create->add_option("--cluster", key_.clusters, "Only for this cluster; again for more (default: all)")
        ->allow_extra_args(false);
    add_parsed(
        create, "--lifetime", parse_duration, [this](Millis t) { key_.lifetime = t; },
        "A temporary key that ends by itself, as in 8h")
        ->expected(1);
    do_on(create, [this](Context& context) { return create_access_key(context, key_); });
    do_on(add_command(*group, "list", "All access keys", "  espalier access list\n"), list_access_keys);
    auto* rotate = add_command(*group, "rotate", "Make a successor of a key; the old one ends after a while",
                               "  espalier access rotate ESPKABCDEFGHIJKLMNOP --grace 1h\n");
    rotate->add_option("KEY", key_id_, "Id of the key")->required();
    add_parsed(
        rotate, "--grace", parse_duration, [this](Millis t) { grace_ = t; },
        "How long the old one goes on (default: 24h)")
        ->expected(1);
    do_on(rotate, [this](Context& context) { return rotate_access_key(context, key_id_, grace_); });
    auto* revoke =
        add_command(*group, "revoke", "End a key at once", "  espalier access revoke ESPKABCDEFGHIJKLMNOP\n");
    revoke->add_option("KEY", key_id_, "Id of the key")->required();
    do_on(revoke, [this](Context& context) { return revoke_access_key(context, key_id_); });
  }

  void add_audit() {
    auto* app = add_command(app_, "audit", "Who changed what, and who was refused, newest first",
                            "  espalier audit\n  espalier audit --errors --limit 500\n");
    app->add_option("--key", audit_.key, "Only this access key's");
    app->add_flag("--errors", audit_.errors, "Only what was not carried out");
    app->add_option("--limit", audit_.limit, "At most so many")->check(CLI::PositiveNumber)->capture_default_str();
    do_on(app, [this](Context& context) { return show_audit(context, audit_); });
  }

  void add_status() {
    auto* app = add_command(app_, "status", "Does the control plane answer, and what is it?", "  espalier status\n");
    do_on(app, show_status);
  }

  void add_simulate() {
    auto* app = add_command(app_, "simulate",
                            "Live a scenario under virtual time, without machines: continuous beside all-or-nothing",
                            "  espalier simulate examples/simulate/rack-short.yaml\n"
                            "  espalier simulate plan.yaml --seed 7 --plot plan.svg --json\n");
    app->add_option("SCENARIO", simulate_options_.scenario, "File: groups, capacity, failures, jobs")
        ->required()
        ->check(CLI::ExistingFile);
    app->add_option("--seed", simulate_options_.seed, "Chance, in place of the scenario's");
    app->add_option("--mode", simulate_options_.mode, "Only this one (default: both)")
        ->check(CLI::IsMember({"continuous", "all-or-nothing"}));
    app->add_option("--plot", simulate_options_.plot, "File for a picture (SVG): nodes ready over time");
    do_on(app, [this](Context& context) { return simulate_(context, simulate_options_); });
  }

  // --endpoint, ESPALIER_ENDPOINT, what `up` listens on, the default.
  [[nodiscard]] std::string endpoint() const {
    std::string url = endpoint_.empty() ? environment("ESPALIER_ENDPOINT", "") : endpoint_;
    if (url.empty()) url = app_.got_subcommand("up") ? up_.serve.url() : kDefaultEndpoint;
    while (url.ends_with('/')) url.pop_back();
    return url;
  }
  [[nodiscard]] std::string region() const {
    if (!region_.empty()) return region_;
    return environment("ESPALIER_REGION", environment("AWS_REGION", environment("AWS_DEFAULT_REGION", "us-west-2")));
  }

  // The state folder of the control plane on this host, as far as the command line knows it.
  [[nodiscard]] std::string local_state() const {
    if (app_.got_subcommand("up")) return up_.serve.state;
    return app_.got_subcommand("down") ? state_ : environment("ESPALIER_STATE", ServeOptions{}.state);
  }
  // --ca-bundle, the self-made certificate of this host, AWS_CA_BUNDLE, the system's.
  [[nodiscard]] std::string ca_bundle() const {
    const auto own = local_certificate_file(local_state());
    std::error_code ec;
    if (ca_bundle_.empty() && is_local(endpoint()) && std::filesystem::exists(own, ec)) return own.string();
    return ca_bundle_.empty() ? environment("AWS_CA_BUNDLE", "") : ca_bundle_;
  }

  int act() {
    const SystemClock clock;
    HttpTransport transport(ca_bundle());
    Service service(transport, clock, endpoint(), region(), [this] {
      return find_credentials([](const char* name) { return environment(name, ""); }, endpoint(), local_state());
    });
    Context context{service,
                    clock,
                    std::cout,
                    std::cerr,
                    detect_terminal(),
                    json_,
                    [](Millis time) { std::this_thread::sleep_for(time); }};
    const auto code = action_(context);
    if (code) return *code;
    return complain(code.error().message, exit_code(code.error().code));
  }

  CLI::App app_{"Espalier grows Slurm clusters for AI training and keeps their shape right.", "espalier"};
  const ServeFunction& serve_;
  const SimulateFunction& simulate_;
  Action action_;
  std::vector<std::string> behind_mark_;  // with the "--" itself

  std::string endpoint_, region_, ca_bundle_;
  bool json_ = false;
  ServeOptions serve_options_;
  UpOptions up_;
  std::string state_ = ServeOptions{}.state;
  std::string cluster_;
  CreateOptions create_;
  std::vector<Resize> sizes_;
  WaitOptions wait_;
  std::string group_;
  EventOptions events_;
  bool topology_file_ = false;
  std::string topology_wish_;
  std::string node_;
  TopologyOptions topology_;
  CapacityOptions capacity_;
  SshOptions ssh_;
  AccessKeyOptions key_;
  std::string key_id_;
  std::optional<Millis> grace_;
  AuditOptions audit_;
  SimulateOptions simulate_options_;
};

}  // namespace

int run(int argc, char** argv, const std::string& version, const ServeFunction& serve,
        const SimulateFunction& simulate) {
  return CommandLine(version, serve, simulate).run(argc, argv);
}

}  // namespace espalier::cli
