// One cluster at run time: its state, its inbox, and who waits for it. Never two steps at once.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/timers.h"
#include "engine/agent_hub.h"
#include "engine/clusters.h"
#include "reconcile/step.h"
#include "store/store.h"

namespace espalier::engine {

struct Actor {
  Actor(ClusterState loaded, Random seeded) : state(std::move(loaded)), id(state.cluster.id), random(seeded) {}

  // What a step has decided and the store has not taken yet: nothing of it goes out before.
  struct Decided {
    store::Commit commit;
    reconcile::Output output;
    bool tried = false;  // a try failed with an error that leaves open whether it is on disk
  };
  using UserReply = std::function<void(Result<reconcile::UserAnswer>)>;
  struct EventWaiter {
    std::int64_t sequence = 0;
    std::function<void()> ready;
    Timers::Id timeout = 0;
  };

  std::mutex state_mutex;  // state and observed; held for the length of a step or a read, never for I/O
  ClusterState state;
  reconcile::Observed observed;
  const ClusterId id;
  Random random;  // used in steps only

  std::mutex inbox_mutex;  // what follows
  std::vector<reconcile::Input> inbox;
  std::deque<UserReply> user_calls;  // one for each input of a user's in the inbox or under way
  std::size_t refused = 0;           // how many of the oldest were answered before their outcome was stored
  std::map<std::int64_t, AgentListener::EnrolReply> enrol_calls;
  std::int64_t last_enrol_call = 0;
  std::vector<EventWaiter> event_waiters;
  std::int64_t last_event = 0;  // stored
  bool scheduled = false;       // a run is posted or under way
  bool again = false;           // and another is wanted after it
  bool retrying = false;        // the store failed: a timer waits, nothing is tried before it
  bool gone = false;
  Timers::Id wake = 0;
  std::optional<Time> wake_time;

  std::optional<Decided> decided;  // only the run under way touches it
  std::atomic<int> instances{0};   // wished for, for quotas
};

// The rows that changed, as they are now.
store::Commit commit_of(const ClusterState& state, const reconcile::Changes& changes);

}  // namespace espalier::engine
