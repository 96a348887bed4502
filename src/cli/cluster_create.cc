#include "base/file.h"
#include "cli/actions.h"
#include "cli/waiting.h"

namespace espalier::cli {

namespace {

Result<json::object> request_from_file(const std::string& path) {
  auto text = read_file(path);
  // Not found is for what the control plane has: a file that cannot be read is a wrong argument.
  if (!text) return fail(ErrorCode::kInvalid, "--from: {}", text.error().message);
  auto parsed = parse_json(*text);
  if (!parsed) return fail(ErrorCode::kInvalid, "{} is no JSON: {}", path, parsed.error().message);
  if (!parsed->is_object()) return fail(ErrorCode::kInvalid, "{} must hold a CreateCluster request, an object", path);
  return parsed->get_object();
}

Result<json::object> request_of(const CreateOptions& options) {
  if (options.from.empty()) {
    if (options.cluster.empty())
      return fail(ErrorCode::kInvalid,
                  "Give the cluster a name and machines: espalier cluster create NAME "
                  "--group name=worker,type=ml.p5.48xlarge,count=8, or --from FILE");
    if (options.groups.empty())
      return fail(ErrorCode::kInvalid,
                  "Cluster '{}' needs machines: --group name=worker,type=ml.p5.48xlarge,count=8, or --from FILE",
                  options.cluster);
    return create_request(options.cluster, with_base_groups(options.groups, options.base));
  }
  if (!options.groups.empty())
    return fail(ErrorCode::kInvalid, "--from {} brings its own groups: leave --group out", options.from);
  auto request = request_from_file(options.from);
  if (request && !options.cluster.empty()) (*request)["ClusterName"] = options.cluster;
  return request;
}

Result<std::string> name_in(const json::object& request) {
  const auto* name = request.if_contains("ClusterName");
  if (name == nullptr || !name->is_string() || name->get_string().empty())
    return fail(ErrorCode::kInvalid, "The cluster has no name: espalier cluster create NAME …");
  return std::string(std::string_view(name->get_string()));
}

}  // namespace

Result<void> create_cluster(Context& context, const CreateOptions& options) {
  const auto request = request_of(options);
  if (!request) return tl::unexpected(request.error());
  const auto name = name_in(*request);
  if (!name) return tl::unexpected(name.error());
  const auto answer = context.service.call("SageMaker.CreateCluster", *request);
  if (!answer) return tl::unexpected(answer.error());
  return finish(context, *answer, fmt::format("Cluster '{}' is accepted and grows.", *name), *name, Goal::kGrown,
                options.wait);
}

}  // namespace espalier::cli
