// Who launches next: the queue of every pool, shared by all clusters of a control plane. Pure; the engine holds one.
//
// A group says how many machines it waits for (its demand); the pool grants as many as it may have under way. A pool
// that says "no capacity" is closed for a while, then one launch goes out to see; when that succeeds, two, four and so
// on, and again one after the next "no". What returns is shared max-min fairly: the next machine goes to the group that
// got the fewest while it waited, and among equals to the one that lacks the fewest. Throttling slows every pool of the
// account in the same manner. Nothing here is stored: after a restart the groups ask again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "model/cluster.h"

namespace espalier::reconcile {

// first, 2 × first, 4 × first … up to most, each ± 10 % so that many do not come at once. failures: 1 and up.
struct Delays {
  Millis first{1000};
  Millis most{30'000};
};
Millis delay_after(const Delays& delays, Random& random, int failures);

struct PoolSettings {
  int in_flight = 64;  // launches under way, of one pool
  Delays shortage{Millis(1000), Millis(30'000)};
  Delays quota{Millis(60'000), Millis(30 * 60'000)};
  Delays throttling{Millis(1000), Millis(30'000)};
};

// Why a pool gives nothing now, and when it is asked again.
struct PoolClosed {
  Time until{};
  FailureClass kind = FailureClass::None;
  std::string message;
  int failures = 0;  // rounds without success
};

class Pools {
 public:
  struct Group {
    ClusterId cluster;
    std::string name;
    auto operator<=>(const Group&) const = default;
  };
  struct Grant {
    Group to;
    std::string pool;
    int count = 0;
  };
  // The pool has been closed, or (without a value) opened again.
  struct Notice {
    Group to;
    std::string pool;
    std::optional<PoolClosed> closed;
  };
  struct Decision {
    std::vector<Grant> grants;
    std::vector<Notice> notices;
    std::optional<Time> wake;
  };

  Pools(PoolSettings settings, Random random) : settings_(settings), random_(random) {}

  // The group waits for `count` more machines of the pool; `returned` of its grants were not used. Controllers go
  // first.
  void demand(const Group& group, const std::string& pool, int count, int returned, bool controller);
  void forget(const ClusterId& cluster);
  // A launch goes out; its answer. Success: no failure class.
  void launched(const Group& group, const std::string& pool);
  void answered(const Group& group, const std::string& pool, FailureClass failure, const std::string& message,
                Time now);
  // Somebody has said that there is more now: every pool is asked at once.
  void reopen();
  // What may go out now. To be called after every change, and at `wake`.
  Decision decide(Time now);
  [[nodiscard]] std::map<std::string, PoolClosed> closed(Time now) const;

 private:
  struct Waiting {
    int count = 0;
    int promised = 0;  // granted, and neither launched nor returned yet
    int obtained = 0;  // granted since it began to wait, less what failed
    bool controller = false;
  };
  struct Pool {
    std::map<Group, Waiting> groups;
    int promised = 0;
    int under_way = 0;
    int window = 0;  // how many may be promised or under way; 0: as many as the settings say
    std::optional<PoolClosed> closed;
    bool told = true;  // the groups know whether it is closed
  };

  void close(std::optional<PoolClosed>& closed, const Delays& delays, FailureClass kind, const std::string& message,
             Time now);
  void grant(const std::string& name, Pool& pool, int& account_room, Decision& decision) const;
  static void tell(const std::string& name, Pool& pool, Decision& decision);

  PoolSettings settings_;
  Random random_;
  std::map<std::string, Pool> pools_;
  std::optional<PoolClosed> throttled_;  // the whole account
  int account_window_ = 0;               // 0: no bound
};

}  // namespace espalier::reconcile
