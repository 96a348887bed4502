// How members are walked: in the natural order of their names, and without asking again what a type is.
#pragma once

#include <vector>

#include "topology/blocks.h"
#include "topology/plan.h"

namespace espalier::topology {

// Each name once: the first member of a name counts.
using Ordered = std::vector<const Member*>;
Ordered in_order(const std::vector<Member>& members);

// The functions of plan.h and blocks.h, for members that are in order already.
Plan plan_tree(const Ordered& members, std::string because);
Plan plan_blocks(const Ordered& members, std::string because, const BlockRules& rules, Memory& memory,
                 std::vector<std::string>& notes);
std::map<std::string, std::vector<std::string>> nvlink_domains(const Ordered& members);

// class_of() for many members in a row, which share a few types.
class ClassOf {
 public:
  TopologyClass operator()(const std::string& instance_type) {
    if (last_ == nullptr || *last_ != instance_type) class_ = class_of(instance_type);
    last_ = &instance_type;
    return class_;
  }

 private:
  const std::string* last_ = nullptr;  // outlives the call: a member's
  TopologyClass class_ = TopologyClass::none;
};

}  // namespace espalier::topology
