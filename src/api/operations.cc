#include "api/operations.h"

#include <map>

namespace espalier::api {

Operation at_once(std::string target, Answer answer) {
  return {std::move(target),
          [answer](const Services& services, const Call& call, const Done& done) { done(answer(services, call)); }};
}

engine::Clusters::Changed answer_when_done(json::object answer, Done done) {
  return [answer = std::move(answer), done = std::move(done)](const Result<void>& ok) {
    done(ok ? Result<json::object>(answer) : tl::unexpected(ok.error()));
  };
}

const Operation* find_operation(std::string_view target) {
  static const auto table = [] {
    std::map<std::string, Operation, std::less<>> all;
    for (auto& family : {cluster_operations(), node_operations(), batch_operations(), software_operations(),
                         health_operations(), event_operations(), tag_operations(), own_operations(),
                         topology_operations(), explain_operations(), explain_job_operations(), access_operations()})
      for (const auto& operation : family) all.emplace(operation.target, operation);
    return all;
  }();
  const auto found = table.find(target);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace espalier::api
