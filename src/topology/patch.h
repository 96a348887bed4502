// One node's change in a large plan, in the time of one node: the plan and its file are patched instead of made anew.
//
// A leaf that stays in use keeps its name and its place, whatever hangs on it; so where a machine leaves one leaf for
// another, and neither becomes empty or new, two lists of nodes change and nothing else. A block has its seats from the
// start: a machine that takes its own slot's seat changes nothing. Everything else is planned anew, and so is all of a
// fabric whose machines contradict each other: there every machine has a vote. The tests hold patched plans against
// plans made anew.
#pragma once

#include <string>
#include <unordered_map>

#include "topology/cluster_plan.h"

namespace espalier::topology {

class Patcher {
 public:
  // Of the request, the plan that was made of it, and the memory after that.
  Patcher(const Request& request, const ClusterPlan& plan, const Memory& memory);

  // The member has another position, or none. False: plan anew, nothing has been touched.
  bool move(const Member& now, ClusterPlan& plan, TopologyFiles& files);
  // As places() of the plan has it.
  [[nodiscard]] std::string place_of(const std::string& node, const ClusterPlan& plan) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Seat {  // of one node
    Member member;
    std::size_t leaf = kNone;   // in the tree's switches
    std::size_t block = kNone;  // in the blocks
    std::size_t home = kNone;   // the block of its own slot
  };
  struct Domain {
    std::size_t nodes = 0;
    std::size_t block = kNone;  // that is bound to it
  };
  struct Above {  // what the first machine said of a switch
    std::string parent;
    std::size_t level = 0;
    bool is_leaf = false;
  };

  void read_tree(const Plan& tree);
  void read_blocks(const Plan& blocks, const Memory& memory);
  void hear(const Position& position);
  [[nodiscard]] std::size_t leaf_for(const Seat& seat, const Member& now) const;
  [[nodiscard]] bool leaf_may_change(const Seat& seat, std::size_t to, const ClusterPlan& plan) const;
  [[nodiscard]] bool domain_may_change(const Seat& seat, const Member& now) const;
  void change_leaf(Seat& seat, std::size_t to, ClusterPlan& plan, TopologyFiles& files) const;
  void change_domain(const Seat& seat, const Member& now, ClusterPlan& plan);

  std::size_t base_size_;
  bool agrees_ = true;   // no two machines contradict each other
  bool at_home_ = true;  // every slot that waits sits in its own block, every machine in that of its domain
  bool has_tree_ = false, has_blocks_ = false;
  std::size_t unplaced_ = kNone;
  std::unordered_map<std::string, Seat> seats_;          // by node
  std::unordered_map<std::string, std::size_t> leaves_;  // path → leaf
  std::unordered_map<std::string, Above> above_;
  std::unordered_map<std::string, Domain> domains_;
};

// The file's text after one leaf's nodes have changed from what `before` has. For render.cc to know its own form.
void patch_text(const Switch& before, const Switch& after, TopologyFiles& files);

}  // namespace espalier::topology
