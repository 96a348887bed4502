// What a key may do. Pure, and the only place that says so: a grammar of policies would replace allowed() alone.
#pragma once

#include <string_view>

#include "access/refusal.h"
#include "model/access_key.h"

namespace espalier::access {

enum class Effect {
  kRead,    // shows something
  kChange,  // changes a cluster that is there
  kManage,  // makes and deletes clusters
  kGovern,  // of the whole service: keys, audit, capacity
};

// Of an operation, "SageMaker.ListClusters". What is not known is kGovern.
Effect effect_of(std::string_view target);

// What a request wants to do.
struct Act {
  std::string_view target;
  std::string_view cluster;  // its name; "" when the request names none, or one that is not there
  bool names_cluster = false;
};

// Whether the key's role has the operation's effect, and its list the cluster. kDenied says who, what and why.
Checked<void> allowed(const AccessKey& key, const Act& act);
// Whether a list shows this cluster to the key.
bool may_see(const AccessKey& key, std::string_view cluster);

}  // namespace espalier::access
