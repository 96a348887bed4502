// How the local and the simulated cloud are told what they have. Other providers have none.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace espalier {

// What a pool (an instance type) can give.
struct Pool {
  std::optional<int> machines;  // how many of this type there are in all; absent: no bound
  Millis launch_time{0};        // how long a launch takes
  double failure_rate = 0;      // of launches, 0 to 1
  std::string failure_class;    // FailureClass of those; "" → BadMachine
};
BOOST_DESCRIBE_STRUCT(Pool, (), (machines, launch_time, failure_rate, failure_class))

struct PoolUse {
  Pool pool;
  int in_use = 0;
};
BOOST_DESCRIBE_STRUCT(PoolUse, (), (pool, in_use))

class Capacity {
 public:
  virtual ~Capacity() = default;
  // By instance type; "default" holds what types not named have.
  virtual std::map<std::string, PoolUse> show() = 0;
  // Takes effect at once and is kept. Unknown types and impossible numbers: kInvalid. Lowering below what is in use
  // ends no machine.
  virtual Result<void> set(const std::string& instance_type, const Pool& pool) = 0;
  // Called after every set: whoever waits for a shortage to end may try again.
  virtual void on_change(std::function<void()> callback) = 0;
};

}  // namespace espalier
