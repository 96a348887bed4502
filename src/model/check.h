// Deep health checks: what is asked of a machine, what it answers, and what is kept of it in its slot.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace espalier {

// Of the HyperPod API.
enum class CheckKind { InstanceStress, InstanceConnectivity };
BOOST_DESCRIBE_ENUM(CheckKind, InstanceStress, InstanceConnectivity)

// The worst counts. NotChecked is never taken for Healthy.
enum class CheckVerdict { Healthy, NotChecked, Drain, Replace };
BOOST_DESCRIBE_ENUM(CheckVerdict, Healthy, NotChecked, Drain, Replace)

struct CheckFinding {
  CheckKind kind = CheckKind::InstanceStress;
  CheckVerdict verdict = CheckVerdict::NotChecked;
  std::string reason;
  std::vector<std::string> peers;  // InstanceConnectivity: nodes that were called,
  std::vector<std::string>
      unreachable;  // and those of them that did not answer; whose fault it is the machine cannot know
};
BOOST_DESCRIBE_STRUCT(CheckFinding, (), (kind, verdict, reason, peers, unreachable))

// Of a slot's machine, by StartClusterHealthCheck or because its group wants it of every new one. Stored before it is
// begun, kept after it.
struct DeepCheck {
  std::string id;
  std::vector<CheckKind> kinds;
  Time asked_at{};
  Time begun_at{};                     // the machine was told; 1970: not yet
  bool answered = false;               // with these:
  std::vector<CheckFinding> findings;  // as the machine has them
  bool done = false;                   // judged, with this:
  CheckVerdict verdict = CheckVerdict::NotChecked;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(DeepCheck, (), (id, kinds, asked_at, begun_at, answered, findings, done, verdict, reason))

}  // namespace espalier
