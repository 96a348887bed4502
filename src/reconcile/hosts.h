// /etc/hosts of a cluster's machines: every machine resolves every other by name.
//
// A machine fetches the whole list before its setup, and then is told what changed since, so that one node more costs a
// cluster of n machines n short messages.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/protocol.h"

namespace espalier::reconcile {

struct Work;

// The list as it is, its version, and the last changes.
class HostsBook {
 public:
  using Hosts = std::vector<agent::HostEntry>;  // sorted by name

  // False when nothing changed.
  bool update(Hosts hosts);
  // As an agent::HostsAnswer, made once a version; null before the first.
  std::shared_ptr<const std::string> encoded();
  [[nodiscard]] std::int64_t version() const { return version_; }
  // What leads from that version to now; nothing when it is too long ago, or 0: none at all.
  [[nodiscard]] std::optional<agent::HostsDelta> since(std::int64_t version) const;

 private:
  static constexpr std::size_t kKept = 64;  // versions

  Hosts hosts_;
  std::int64_t version_ = 0;
  std::deque<agent::HostsDelta> changes_;  // the last of them leads to version_
  std::shared_ptr<const std::string> encoded_;
};

// The list as machines fetch it; the bigger the cluster, the more seldom it is made again.
void refresh_hosts(Work& work);
// Tells machines that are set up what changed, when it has been quiet for a while.
void spread_hosts(Work& work);

}  // namespace espalier::reconcile
