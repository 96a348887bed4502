// Blocks: which slot is in which, before and after its machine has come. Pure.
//
// Every slot of a group has a seat from its declaration: the slots 18k+1 … 18k+18 are block k+1 of the group, so that
// Slurm knows the whole wished-for cluster and lets large jobs wait. The first machine of an NVLink domain binds the
// domain to a block (its own, when that is free); a machine of a bound domain sits in that block, whatever its slot is
// called, and the slots that still wait fill what is left: seats change hands, slots and machines do not.
//
// Nodes that are not ours (Member::number is 0) have no seat: a block for every domain, in the order of the domains.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/plan.h"

namespace espalier::topology {

// What a plan must know of the one before it, for names and order to stay. The caller keeps it with the cluster.
struct Memory {
  std::vector<KnownBlock> blocks;  // in Slurm's order
  bool operator==(const Memory&) const = default;
};
BOOST_DESCRIBE_STRUCT(Memory, (), (blocks))

// A name that fills a short block: "_" is in no name of a slot.
bool is_padding(std::string_view node_name);

// The NVLink domain that a position names; "" when it is not known. "null" and "N/A" have been seen for that.
std::string_view domain_of(const Position& position);

struct BlockRules {
  int base_size = kNominalBlock;
  bool short_blocks = true;   // false: short ones are padded, see Block::padding
  bool equal_blocks = false;  // true: no block may be longer either
};
BlockRules block_rules(const slurm::Version& version, int base_size = kNominalBlock);

// The block topology over all members. Names and order are those of `memory` where it has them, and it learns the rest.
// Machines without NVLink (class none or tree) share a block `off-fabric` at the end.
// `notes` gets what had to be bent, for people.
Plan plan_blocks(const std::vector<Member>& members, std::string because, const BlockRules& rules, Memory& memory,
                 std::vector<std::string>& notes);

// nvidia-imex lets machines of one NVLink domain reach each other's memory: domain → its nodes, natural order.
std::map<std::string, std::vector<std::string>> nvlink_domains(const std::vector<Member>& members);

}  // namespace espalier::topology
