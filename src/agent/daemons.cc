#include "agent/daemons.h"

#include <algorithm>
#include <utility>

namespace espalier::agent {

Result<void> Daemons::ensure(DaemonSpec spec) {
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(ErrorCode::kConflict, "{} is not started: this machine is going down", spec.name);
  const auto same = [&](const auto& daemon) { return daemon->name() == spec.name; };
  if (std::none_of(daemons_.begin(), daemons_.end(), same))
    daemons_.push_back(std::make_shared<Daemon>(std::move(spec), processes_, [this] { report(); }));
  return {};
}

Result<void> Daemons::ensure_ready(DaemonSpec spec, Millis timeout) {
  const std::string name = spec.name;
  if (auto ok = ensure(std::move(spec)); !ok) return ok;
  const auto daemon = find(name);
  return daemon ? daemon->await_ready(timeout) : fail(ErrorCode::kConflict, "{} was ended", name);
}

std::shared_ptr<Daemon> Daemons::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(daemons_.begin(), daemons_.end(), [&](const auto& daemon) { return daemon->name() == name; });
  return found == daemons_.end() ? nullptr : *found;
}

Result<void> Daemons::send(const std::string& name, int signal) {
  const auto daemon = find(name);
  if (daemon && daemon->send(signal)) return {};
  return fail(ErrorCode::kNotFound, "{} does not run here", name);
}

void Daemons::end(const std::string& name) {
  const auto daemon = find(name);
  const std::lock_guard lock(mutex_);
  std::erase(daemons_, daemon);
}

void Daemons::end_all() {
  std::vector<std::shared_ptr<Daemon>> ending;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ending.swap(daemons_);
  }
  while (!ending.empty()) ending.pop_back();
}

void Daemons::report() {
  std::vector<DaemonView> views;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& daemon : daemons_) views.push_back(daemon->view());
  }
  changed_(std::move(views));
}

}  // namespace espalier::agent
