// Several sources, and what was known before, become one answer. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/sources/source.h"

namespace espalier::topology {

// Id of a source → Slurm node name.
using NameTable = std::map<std::string, std::string>;

// "i-0123456789abcdef0 p5-1" a line, or with a comma between; '#' begins a comment. kInvalid with the line.
Result<NameTable> read_names(std::string_view text);
// Ids that the table knows become node names; others stay as they are. When two become the same, the first id counts.
Located rename(Located located, const NameTable& names);

struct Answer {
  std::string from;  // "ec2=answers.json", for the reasons
  Located located;
};

// For each machine the network nodes of the first answer that has them, and the domain likewise: a list of NVLink
// domains goes with a tree from elsewhere. An answer that doubts gives way to one that does not.
Located merge(std::vector<Answer> answers);

// Fills what is missing or doubtful in `now` with what was known before. Machines that `now` does not have keep their
// last position: whether one is gone, others must say.
Located keep_last_known(Located now, const Positions& last);

// A provider may call the same switch otherwise with each answer. A network node or domain that is new, and has below
// it most of the machines of one that is no longer named, keeps the old name: so nothing changes for Slurm.
Positions keep_names(Positions now, const Positions& last);

}  // namespace espalier::topology
