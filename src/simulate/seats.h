// Where the n-th machine of a type hangs, by a fabric model. Laid out as far as it is asked for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "provider/sim/fabric_model.h"

namespace espalier::simulate {

class Seats {
 public:
  explicit Seats(sim::FabricModel fabric) : fabric_(std::move(fabric)) {}

  // None: the type has no position, or the model's leaves are all taken.
  Position at(const std::string& instance_type, int seat);

 private:
  const sim::FabricModel fabric_;
  std::map<std::string, std::vector<Position>> of_type_;
  std::vector<Position> taken_;
};

}  // namespace espalier::simulate
