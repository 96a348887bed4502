#include "simulate/seats.h"

#include <algorithm>

namespace espalier::simulate {

Position Seats::at(const std::string& instance_type, int seat) {
  auto& known = of_type_[instance_type];
  const auto n = static_cast<std::size_t>(seat);
  if (n >= known.size()) {  // twice as many, so that a large group is not walked through for each of its machines
    const std::size_t more = std::max(n + 1, 2 * known.size()) - known.size();
    const auto places = fabric_.places(instance_type, taken_, static_cast<int>(more));
    known.insert(known.end(), places.begin(), places.end());
    taken_.insert(taken_.end(), places.begin(), places.end());
  }
  return n < known.size() ? known[n] : Position{};
}

}  // namespace espalier::simulate
