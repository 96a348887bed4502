// The table of operations: X-Amz-Target → what carries it out. One file for each family.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/api.h"
#include "api/auth.h"

namespace espalier::api {

// A request that has passed its shape: types, lengths and patterns are right, and it has the shape's members only.
struct Call {
  Caller caller;
  json::object input;
};

using Done = std::function<void(Result<json::object>)>;

struct Operation {
  std::string target;                                    // "SageMaker.CreateCluster"
  std::function<void(const Services&, Call, Done)> run;  // calls Done once; what it is given outlives it
};

using Answer = Result<json::object> (*)(const Services&, const Call&);
// An operation that answers at once.
Operation at_once(std::string target, Answer answer);

// For what changes a cluster. The answer is made before the change: the cluster may be gone after it.
engine::Clusters::Changed answer_when_done(json::object answer, Done done);

std::vector<Operation> cluster_operations();
std::vector<Operation> node_operations();
std::vector<Operation> batch_operations();
std::vector<Operation> software_operations();
std::vector<Operation> health_operations();
std::vector<Operation> event_operations();
std::vector<Operation> tag_operations();
std::vector<Operation> own_operations();
std::vector<Operation> topology_operations();
std::vector<Operation> explain_operations();
std::vector<Operation> explain_job_operations();
std::vector<Operation> access_operations();

// nullptr: there is none, or it is for EKS.
const Operation* find_operation(std::string_view target);

}  // namespace espalier::api
