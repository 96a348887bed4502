#include "agent/outbox.h"

#include <algorithm>
#include <set>

namespace espalier::agent {

namespace {

std::size_t bytes_of(const CommandResult& result) {
  std::size_t bytes = result.error.size() + result.id.size();
  for (const auto& step : result.steps) bytes += step.output.size() + 32;
  return bytes;
}

void push_bounded(std::deque<CommandResult>& queue, CommandResult result) {
  if (queue.size() == kMaxResults) queue.pop_front();
  queue.push_back(std::move(result));
}

bool has_id(const std::deque<CommandResult>& queue, const std::string& id) {
  return std::any_of(queue.begin(), queue.end(), [&](const auto& result) { return result.id == id; });
}

}  // namespace

void Outbox::add_result(CommandResult result) {
  const std::lock_guard lock(mutex_);
  push_bounded(carried_out_, result);
  push_bounded(results_, std::move(result));
  news_.notify_one();
}

bool Outbox::repeat_result(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(carried_out_.begin(), carried_out_.end(), [&](const auto& result) { return result.id == id; });
  if (found == carried_out_.end()) return false;
  if (!has_id(results_, id)) push_bounded(results_, *found);
  news_.notify_one();
  return true;
}

void Outbox::set_nodes(const std::vector<NodeView>& nodes, bool all) {
  const std::lock_guard lock(mutex_);
  if (all) {
    std::set<std::string_view> names;
    for (const auto& node : nodes) names.insert(node.name);
    const auto is_gone = [&](const auto& item) { return !names.contains(item.first); };
    std::erase_if(nodes_, is_gone);
    std::erase_if(unsent_, is_gone);
  }
  for (const auto& node : nodes) {
    const auto [known, is_new] = nodes_.try_emplace(node.name, node);
    if (!is_new && known->second == node) continue;
    known->second = node;
    unsent_[node.name] = node;
  }
  if (!unsent_.empty()) news_.notify_one();
}

void Outbox::set_daemons(std::vector<DaemonView> daemons) {
  const std::lock_guard lock(mutex_);
  daemons_ = std::move(daemons);
  daemons_unsent_ = true;
  news_.notify_one();
}

void Outbox::set_health(HealthView health) {
  const std::lock_guard lock(mutex_);
  // The rest can wait for the next heartbeat.
  health_unsent_ =
      health_unsent_ || !health_ || health_->gpus != health.gpus || health_->neuron_devices != health.neuron_devices;
  health_ = std::move(health);
  if (health_unsent_) news_.notify_one();
}

void Outbox::tell_all_again() {
  const std::lock_guard lock(mutex_);
  unsent_ = nodes_;
  daemons_unsent_ = true;
  health_unsent_ = health_.has_value();
  news_.notify_one();
}

bool Outbox::has_news() const { return !results_.empty() || !unsent_.empty() || daemons_unsent_ || health_unsent_; }

Report Outbox::next_report(Millis timeout) {
  std::unique_lock lock(mutex_);
  const bool heartbeat = !news_.wait_for(lock, timeout, [&] { return has_news(); });
  Report report;
  report.boot = boot_;
  std::size_t bytes = 0;
  for (const auto& result : results_) {
    bytes += bytes_of(result);
    if (!report.results.empty() && bytes > kMaxResultBytesInReport) break;
    report.results.push_back(result);
  }
  for (const auto& [name, node] : unsent_) {
    if (report.nodes.size() == kMaxNodesInReport) break;
    report.nodes.push_back(node);
  }
  if (heartbeat || daemons_unsent_) report.daemons = daemons_;
  if (heartbeat || health_unsent_) report.health = health_;
  return report;
}

void Outbox::acknowledge(const Report& sent) {
  const std::lock_guard lock(mutex_);
  for (const auto& result : sent.results)
    std::erase_if(results_, [&](const auto& kept) { return kept.id == result.id; });
  for (const auto& node : sent.nodes)
    if (const auto found = unsent_.find(node.name); found != unsent_.end() && found->second == node)
      unsent_.erase(found);
  if (sent.daemons == daemons_) daemons_unsent_ = false;
  if (sent.health && health_ && sent.health->gpus == health_->gpus &&
      sent.health->neuron_devices == health_->neuron_devices)
    health_unsent_ = false;
}

}  // namespace espalier::agent
