// Clusters and commits with something in every field, for the tests of this folder.
#pragma once

#include <string>

#include "store/store.h"

namespace espalier::store::samples {

inline Time at(std::int64_t millis) { return Time(Millis(millis)); }

inline Cluster cluster(const std::string& id, const std::string& name) {
  Cluster out;
  out.id = ClusterId(id);
  out.name = name;
  out.region = "us-west-2";
  out.account = "123456789012";
  out.created_at = at(1'700'000'000'123);
  out.failure_message = "\"quoted\" Ünïcode \n";
  out.munge_key = "c2VjcmV0";
  out.spec = {{"Tags", {{{"Key", "team"}, {"Value", "a"}}}}, {"NodeProvisioningMode", "Continuous"}};
  return out;
}

inline Group group(const std::string& name, int count) {
  Group out;
  out.name = name;
  out.instance_type = "ml.p5.48xlarge";
  out.partition = "train";
  out.target_count = count;
  out.spec = {{"InstanceCount", count}};
  return out;
}

inline Slot slot(const std::string& group, int number) {
  Slot out;
  out.id = SlotId(group + "-slot-" + std::to_string(number));
  out.group = group;
  out.number = number;
  out.node_name = group + "-" + std::to_string(number);
  out.state = SlotState::Ready;
  out.machine = Machine{MachineId("i-0123456789abcdef0"),
                        "10.77.0.9",
                        {{"nn-1", "nn-2"}, "us-1"},
                        "us-west-2a",
                        at(5),
                        "ami-1234567890abcdef"};
  out.address = "10.77.0.9";
  out.next_try = at(77);
  out.conditions["Booted"] = {true, "enrolled", at(6)};
  return out;
}

inline Event event(std::int64_t sequence, const std::string& group = "", const std::string& instance = "") {
  Event out;
  out.sequence = sequence;
  out.id = "event-" + std::to_string(sequence);
  out.time = at(1000 * sequence);
  out.resource = !instance.empty() ? ResourceType::Instance
                 : !group.empty()  ? ResourceType::InstanceGroup
                                   : ResourceType::Cluster;
  out.group = group;
  out.instance = MachineId(instance);
  out.description = "step " + std::to_string(sequence);
  out.metadata = {{"Cluster", {{"FailureMessage", "none"}}}};
  return out;
}

// The first commit of a cluster: its row and nothing else.
inline Commit create(const std::string& id, const std::string& name) {
  Commit out;
  out.cluster = ClusterId(id);
  out.cluster_row = cluster(id, name);
  return out;
}

inline Commit change(const std::string& id, std::int64_t expected_revision) {
  Commit out;
  out.cluster = ClusterId(id);
  out.expected_revision = expected_revision;
  return out;
}

}  // namespace espalier::store::samples
