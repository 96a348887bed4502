#include "cli/actions.h"
#include "cli/nearest.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

// A node that does not exist gets a suggestion, as a cluster does.
Error with_nodes(Context& context, const SshOptions& options, Error error) {
  const auto list = read_answer<wire::NodeList>(context.service.on_cluster("Espalier.DescribeNodes", options.cluster));
  if (!list) return error;
  std::vector<std::string> names;
  for (const auto& node : list->Nodes) {
    if (node.NodeName == options.node || node.InstanceId == options.node) return error;  // it has no machine now
    names.push_back(node.NodeName);
  }
  error.message = fmt::format("Cluster '{}' has no node '{}' to enter.{}", options.cluster, options.node,
                              suggestion(options.node, names));
  return error;
}

std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The machine's login shell reads the command, as with ssh. One word is a line for it, as it stands; several are a
// program and its arguments, which must arrive as they are.
std::vector<std::string> for_the_shell(std::vector<std::string> command) {
  if (command.size() > 1)
    for (auto& word : command) word = shell_word(word);
  return command;
}

}  // namespace

Result<int> ssh(Context& context, const SshOptions& options, const EnterFunction& enter) {
  const char* member = options.node.starts_with("i-") ? "NodeId" : "NodeName";
  const auto answer = context.service.on_cluster("Espalier.DescribeAccess", options.cluster, {{member, options.node}});
  const auto access = read_answer<wire::Access>(answer);
  if (!access && access.error().code == ErrorCode::kNotFound)
    return tl::unexpected(with_nodes(context, options, access.error()));
  if (!access) return tl::unexpected(access.error());
  if (context.json) {
    print_json(context, *answer);
    return 0;
  }
  return enter(access->MachineFolder, for_the_shell(options.command), options.user);
}

}  // namespace espalier::cli
