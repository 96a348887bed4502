#include <unistd.h>

#include "cli/actions.h"
#include "cli/background_serve.h"
#include "cli/demo_job.h"
#include "cli/waiting.h"

namespace espalier::cli {

namespace {

void say(Context& context, const std::string& text) {
  if (!context.json) print(context, text);
}

Result<void> ensure_serving(Context& context, const UpOptions& options) {
  if (options.serve.provider != "local")
    return fail(ErrorCode::kInvalid, "`espalier up` runs a job on real machines: use `espalier serve --provider {}`",
                options.serve.provider);
  if (geteuid() != 0)
    return fail(
        ErrorCode::kPermission,
        "The machines of a local control plane are namespaces of this host, which only root can make and enter: "
        "run `espalier up` as root");
  auto service = describe_service(context);
  if (service) {
    if (service->Provider != "local")
      return fail(ErrorCode::kInvalid,
                  "The control plane at {} has the provider '{}': `espalier up` needs real machines",
                  context.service.endpoint(), service->Provider);
    if (auto ok = check_state(context, *service, options.serve.state); !ok) return ok;
    say(context, fmt::format("Espalier {} answers at {}.", service->Version, context.service.endpoint()));
    if (!options.serve.image.empty() && options.serve.image != service->Image)
      say(context,
          fmt::format("Its machines are made of {}, not of {}: `espalier down` first, to start anew with that.",
                      service->Image, options.serve.image));
    return {};
  }
  // What we start answers where it listens. Elsewhere there is nothing that we could do.
  const bool ours = context.service.endpoint() == "http://" + options.serve.listen;
  if (service.error().code != ErrorCode::kUnavailable || !ours) return tl::unexpected(service.error());
  service = start_serve(context, options.program, options.serve);
  if (!service) return tl::unexpected(service.error());
  say(context, fmt::format("Started Espalier {} at {} (process {}, log in {}/serve.log).", service->Version,
                           context.service.endpoint(), service->ProcessId, options.serve.state));
  return {};
}

Result<void> ensure_cluster(Context& context, const UpOptions& options) {
  const auto created = context.service.call("SageMaker.CreateCluster", example_request(options.cluster));
  if (!created && created.error().code != ErrorCode::kExists) return tl::unexpected(created.error());
  say(context, created ? fmt::format("Cluster '{}' is accepted and grows: a controller, a login machine, "
                                     "8 × ml.p5.48xlarge, 2 × ml.c5.4xlarge.",
                                     options.cluster)
                       : fmt::format("Cluster '{}' is there already.", options.cluster));
  return follow(context, options.cluster, {Goal::kGrown, options.timeout});
}

// Where the job is submitted, and how many nodes it may ask for.
struct Stage {
  std::string login;
  int nodes = 0;
};

Result<Stage> find_stage(Context& context, const std::string& cluster) {
  const auto list = read_answer<wire::NodeList>(context.service.on_cluster("Espalier.DescribeNodes", cluster));
  if (!list) return tl::unexpected(list.error());
  Stage out;
  for (const auto& node : list->Nodes) {
    if (node.State != "Ready") continue;
    if (node.NodeType == "Login") out.login = node.NodeName;
    if (node.InstanceType == "ml.p5.48xlarge" && out.nodes < kDemoNodes) ++out.nodes;
  }
  if (out.nodes == 0)
    return fail(ErrorCode::kNotFound, "Cluster '{}' has no ml.p5.48xlarge that is ready: espalier nodes {}", cluster,
                cluster);
  if (!out.login.empty()) return out;
  return fail(ErrorCode::kNotFound, "Cluster '{}' has no login machine that is ready: espalier nodes {}", cluster,
              cluster);
}

Result<void> show_cluster(Context& context, const std::string& cluster) {
  if (context.json) return {};
  print(context, "");
  if (auto ok = show_nodes(context, cluster); !ok) return ok;
  print(context, "");
  return show_topology(context, cluster);
}

void print_next(Context& context, const UpOptions& options, const std::string& login) {
  const auto& cluster = options.cluster;
  const auto aws =
      fmt::format("aws --endpoint-url {} --region {} sagemaker", context.service.endpoint(), context.service.region());
  const auto line = [&context](const std::string& command, std::string_view what) {
    print(context, what.empty() ? "  " + command : fmt::format("  {:<46}  {}", command, what));
  };
  print(context, "\nTry next:");
  // Only where it is not what the commands take by themselves.
  const bool usual = context.service.endpoint() == ServeOptions{}.url();
  const std::string espalier = usual ? "espalier" : "espalier --endpoint " + context.service.endpoint();
  line(fmt::format("{} ssh {} {}", espalier, cluster, login), "a shell on the login machine: sinfo, sbatch, squeue");
  line(fmt::format("{} cluster scale {} worker=16", espalier, cluster), "grow it while jobs run");
  line(espalier + " capacity set ml.p5.48xlarge=10", "a shortage; =unlimited ends it");
  line(fmt::format("{} events {} --follow", espalier, cluster), "what happens");
  line(fmt::format("{} topology show {}", espalier, cluster), "the network as Slurm sees it");
  print(context, "With the AWS CLI (any credentials will do):");
  line(aws + " list-clusters", "");
  line(fmt::format("{} describe-cluster --cluster-name {}", aws, cluster), "");
  print(context, "Remove everything:");
  line(espalier + (options.serve.state == ServeOptions{}.state ? " down" : " down --state " + options.serve.state), "");
}

Result<void> run_and_show_demo(Context& context, const UpOptions& options) {
  const auto stage = find_stage(context, options.cluster);
  if (!stage) return tl::unexpected(stage.error());
  say(context, "");
  const auto ranks = run_demo(context, options.program, options.cluster, stage->login, stage->nodes);
  if (!ranks) return tl::unexpected(ranks.error());
  if (context.json) {
    print_json(context, json::object{{"Endpoint", context.service.endpoint()},
                                     {"ClusterName", options.cluster},
                                     {"LoginNode", stage->login},
                                     {"Ranks", to_json(*ranks)}});
    return {};
  }
  print_ranks(context, *ranks);
  print_next(context, options, stage->login);
  return {};
}

}  // namespace

Result<void> up(Context& context, const UpOptions& options) {
  if (auto ok = ensure_serving(context, options); !ok) return ok;
  if (auto ok = ensure_cluster(context, options); !ok) return ok;
  if (auto ok = show_cluster(context, options.cluster); !ok) return ok;
  return run_and_show_demo(context, options);
}

}  // namespace espalier::cli
