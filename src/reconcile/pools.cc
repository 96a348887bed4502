#include "reconcile/pools.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace espalier::reconcile {

namespace {

constexpr int kFirstWindow = 4;            // of a pool that is said to have more again
constexpr int kMostOfAccount = 1'000'000;  // no bound any more

}  // namespace

Millis delay_after(const Delays& delays, Random& random, int failures) {
  const int doublings = std::clamp(failures - 1, 0, 20);
  const Millis whole = std::min(delays.most, delays.first * (std::int64_t{1} << doublings));
  return Millis(static_cast<Millis::rep>(static_cast<double>(whole.count()) * (0.9 + 0.2 * random.unit())));
}

void Pools::demand(const Group& group, const std::string& name, int count, int returned, bool controller) {
  if (count == 0 && !pools_.contains(name)) return;
  Pool& pool = pools_[name];
  const auto [found, is_new] = pool.groups.try_emplace(group);
  Waiting& waiting = found->second;
  if (is_new && pool.closed) pool.told = false;
  if (waiting.count == 0 && count > 0) {
    // Who comes later starts level with those that wait: what they got before does not count against them.
    int least = std::numeric_limits<int>::max();
    for (const auto& [other, theirs] : pool.groups)
      if (other != group && theirs.count > 0) least = std::min(least, theirs.obtained);
    waiting.obtained = least == std::numeric_limits<int>::max() ? 0 : least;
  }
  waiting.count = count;
  waiting.controller = controller;
  const int back = std::min(returned, waiting.promised);
  waiting.promised -= back;
  waiting.obtained -= back;
  pool.promised -= back;
  if (count == 0 && waiting.promised == 0) pool.groups.erase(found);
}

void Pools::forget(const ClusterId& cluster) {
  for (auto& [name, pool] : pools_)
    std::erase_if(pool.groups, [&](const auto& item) {
      if (item.first.cluster != cluster) return false;
      pool.promised -= item.second.promised;
      return true;
    });
}

void Pools::launched(const Group& group, const std::string& name) {
  Pool& pool = pools_[name];
  ++pool.under_way;
  const auto found = pool.groups.find(group);
  if (found == pool.groups.end() || found->second.promised == 0) return;  // repeated after a restart
  --found->second.promised;
  --pool.promised;
}

void Pools::close(std::optional<PoolClosed>& closed, const Delays& delays, FailureClass kind,
                  const std::string& message, Time now) {
  // The answers of one round count as one failure.
  if (closed && closed->until > now && closed->kind == kind) return;
  const int failures = closed ? closed->failures + 1 : 1;
  closed = PoolClosed{now + delay_after(delays, random_, failures), kind, message, failures};
}

void Pools::answered(const Group& group, const std::string& name, FailureClass failure, const std::string& message,
                     Time now) {
  Pool& pool = pools_[name];
  pool.under_way = std::max(0, pool.under_way - 1);
  if (const auto found = pool.groups.find(group); found != pool.groups.end() && failure != FailureClass::None)
    found->second.obtained = std::max(0, found->second.obtained - 1);
  switch (failure) {
    case FailureClass::None:
      // An answer that was under way when the pool closed opens nothing.
      if (pool.closed && pool.closed->until <= now) {
        pool.closed.reset();
        pool.told = false;
      }
      if (throttled_ && throttled_->until <= now) throttled_.reset();
      // One more for each success doubles it with every round.
      if (pool.window > 0 && ++pool.window >= settings_.in_flight) pool.window = 0;
      if (account_window_ > 0 && account_window_ < kMostOfAccount) ++account_window_;
      return;
    case FailureClass::Shortage:
    case FailureClass::Quota:
      close(pool.closed, failure == FailureClass::Quota ? settings_.quota : settings_.shortage, failure, message, now);
      pool.window = 1;
      pool.told = false;
      return;
    case FailureClass::Throttling:
      close(throttled_, settings_.throttling, failure, message, now);
      account_window_ = 1;
      return;
    default:
      return;  // says nothing about the pool
  }
}

void Pools::reopen() {
  throttled_.reset();
  account_window_ = 0;
  for (auto& [name, pool] : pools_) {
    if (pool.closed) pool.told = false;
    if (pool.closed) pool.window = kFirstWindow;
    pool.closed.reset();
  }
}

void Pools::tell(const std::string& name, Pool& pool, Decision& decision) {
  if (pool.told) return;
  pool.told = true;
  for (const auto& [group, waiting] : pool.groups) decision.notices.push_back({group, name, pool.closed});
}

void Pools::grant(const std::string& name, Pool& pool, int& account_room, Decision& decision) const {
  const int window = pool.window > 0 ? pool.window : settings_.in_flight;
  while (account_room > 0 && pool.promised + pool.under_way < window) {
    const auto next = std::ranges::min_element(pool.groups, {}, [](const auto& item) {
      const Waiting& w = item.second;
      const int lacks = w.count - w.promised;
      return std::tuple(lacks <= 0, !w.controller, w.obtained, lacks);
    });
    if (next == pool.groups.end() || next->second.count <= next->second.promised) break;
    ++next->second.promised;
    ++next->second.obtained;
    ++pool.promised;
    --account_room;
    // In their order: when there is less than all of them want, the first get it.
    if (!decision.grants.empty() && decision.grants.back().to == next->first && decision.grants.back().pool == name)
      ++decision.grants.back().count;
    else
      decision.grants.push_back({next->first, name, 1});
  }
}

Pools::Decision Pools::decide(Time now) {
  Decision decision;
  auto wake_at = [&](Time time) {
    if (!decision.wake || time < *decision.wake) decision.wake = time;
  };
  const bool throttled = throttled_ && throttled_->until > now;
  if (throttled) wake_at(throttled_->until);
  int room = std::numeric_limits<int>::max();
  if (account_window_ > 0) {
    room = account_window_;
    for (const auto& [name, pool] : pools_) room -= pool.promised + pool.under_way;
  }
  for (auto& [name, pool] : pools_) {
    tell(name, pool, decision);
    if (pool.closed && pool.closed->until > now) {
      if (std::ranges::any_of(pool.groups, [](const auto& item) { return item.second.count > 0; }))
        wake_at(pool.closed->until);
    } else if (!throttled) {
      grant(name, pool, room, decision);
    }
  }
  return decision;
}

std::map<std::string, PoolClosed> Pools::closed(Time now) const {
  std::map<std::string, PoolClosed> out;
  for (const auto& [name, pool] : pools_)
    if (throttled_ && throttled_->until > now)
      out[name] = *throttled_;
    else if (pool.closed)
      out[name] = *pool.closed;
  return out;
}

}  // namespace espalier::reconcile
