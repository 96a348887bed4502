#include "simulate/record.h"

#include <algorithm>
#include <utility>

namespace espalier::simulate {

namespace {

constexpr int kMostPoints = 600;  // of a timeline: as many as a plot can show

double hours(Millis length) { return std::chrono::duration<double, std::ratio<3600>>(length).count(); }

void keep_first(std::optional<Millis>& first, Millis at) {
  if (!first || at < *first) first = at;
}

}  // namespace

Record::Record(const Scenario& scenario, Time begin)
    : scenario_(scenario),
      begin_(begin),
      ready_(scenario.groups.size()),
      wished_(scenario.groups.size()),
      sizes_(scenario.groups.size()),
      first_ready_(scenario.groups.size()) {
  for (const GroupWish& group : scenario.groups) wished(group.name, group.count, begin);
}

int Record::index(const std::string& group) const {
  const auto found = std::ranges::find(scenario_.groups, group, &GroupWish::name);
  return found == scenario_.groups.end() ? -1 : static_cast<int>(found - scenario_.groups.begin());
}

void Record::wished(const std::string& group, int count, Time now) {
  const auto i = static_cast<std::size_t>(index(group));
  wished_[i] = count;
  sizes_[i].push_back({since(now), count, {}});
  note(static_cast<int>(i), now);
  look_for_sizes(now);
}

void Record::in_service(Time now) { keep_first(in_service_, since(now)); }

void Record::committed(const store::Commit& commit, Time now) {
  if (commit.remove_cluster) {
    std::vector<SlotId> gone;
    for (const auto& [id, known] : slots_)
      if (known.cluster == commit.cluster) gone.push_back(id);
    for (const SlotId& id : gone) drop(id, now);
    return;
  }
  for (const Slot& slot : commit.put_slots) put(commit.cluster, slot, now);
  for (const SlotId& id : commit.drop_slots) drop(id, now);
  if (!commit.put_slots.empty() || !commit.drop_slots.empty()) look_for_sizes(now);
}

void Record::put(const ClusterId& cluster, const Slot& slot, Time now) {
  const int group = index(slot.group);
  if (group < 0) return;  // the controller's
  group_of_node_[slot.node_name] = group;
  Known& known = slots_.try_emplace(slot.id, Known{cluster, group, false}).first->second;
  const bool ready = slot.state == SlotState::Ready;
  if (std::exchange(known.ready, ready) != ready) set_ready(group, ready ? 1 : -1, now);
}

void Record::drop(const SlotId& id, Time now) {
  const auto found = slots_.find(id);
  if (found == slots_.end()) return;
  if (found->second.ready) set_ready(found->second.group, -1, now);
  slots_.erase(found);
}

void Record::set_ready(int group, int change, Time now) {
  ready_[static_cast<std::size_t>(group)] += change;
  if (change > 0) keep_first(first_ready_[static_cast<std::size_t>(group)], since(now));
  note(group, now);
}

void Record::note(int group, Time now) {
  const auto i = static_cast<std::size_t>(group);
  changes_.push_back({now, group, ready_[i], wished_[i]});
}

// What was wished for last is there.
void Record::look_for_sizes(Time now) {
  bool all = true;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i].empty()) return;  // not all wishes are known yet
    const bool there = ready_[i] == sizes_[i].back().count;
    if (there) keep_first(sizes_[i].back().reached, since(now));
    all = all && there;
  }
  if (all) keep_first(full_size_, since(now));
}

// ---- in the end ----------------------------------------------------------------------------------------------------

void Record::finish(LifeReport& report, const sim::Cloud& cloud, const sim::JobQueue& queue, Time now) const {
  report.in_service = in_service_;
  report.full_size = full_size_;
  for (std::size_t i = 0; i < scenario_.groups.size(); ++i)
    report.groups.push_back(
        {scenario_.groups[i].name, scenario_.groups[i].type, sizes_[i], first_ready_[i], {}, 0, 0, {}});
  add_hours(report, now);
  add_machines(report, cloud, now);
  add_jobs(report, queue, now);
  for (const GroupReport& group : report.groups) {
    report.hours.wished += group.hours.wished;
    report.hours.had += group.hours.had;
    report.hours.ready += group.hours.ready;
    report.hours.used += group.hours.used;
    if (group.first_job) keep_first(report.first_job, *group.first_job);
  }
  add_timeline(report, queue.runs(now), now);
}

void Record::add_hours(LifeReport& report, Time now) const {
  std::vector<Change> last(report.groups.size(), Change{begin_});
  const auto count = [&](std::size_t group, Time until) {
    const Change& from = last[group];
    report.groups[group].hours.ready += from.ready * hours(until - from.at);
    report.groups[group].hours.wished += from.wished * hours(until - from.at);
  };
  for (const Change& change : changes_) {
    const auto group = static_cast<std::size_t>(change.group);
    count(group, change.at);
    last[group] = change;
  }
  for (std::size_t group = 0; group < last.size(); ++group) count(group, now);
}

void Record::add_machines(LifeReport& report, const sim::Cloud& cloud, Time now) const {
  for (const auto& [id, made] : cloud.machines()) {
    const int group = index(made.provided.group);
    if (group < 0) continue;
    GroupReport& out = report.groups[static_cast<std::size_t>(group)];
    ++out.launched;
    if (made.died) ++out.died;
    out.hours.had += hours(made.ended.value_or(now) - made.made);
  }
}

void Record::add_jobs(LifeReport& report, const sim::JobQueue& queue, Time now) const {
  Millis waited{0};
  int started = 0;
  for (const auto& job : queue.jobs()) {
    ++report.jobs.submitted;
    report.jobs.restarts += job.restarts;
    if (job.ended) ++report.jobs.ended;
    if (!job.started) continue;
    ++started;
    waited += *job.started - job.submitted;
  }
  report.jobs.running = static_cast<int>(queue.running());
  report.jobs.waiting = report.jobs.submitted - report.jobs.ended - report.jobs.running;
  if (started > 0) report.jobs.waited = waited / started;
  for (const auto& run : queue.runs(now))
    for (const std::string& node : run.nodes) {
      GroupReport& group = report.groups[static_cast<std::size_t>(group_of_node_.at(node))];
      group.hours.used += hours(run.to - run.from);
      keep_first(group.first_job, since(run.from));
    }
}

// Changes that a plot cannot tell apart become one point: what was so in the end.
void Record::add_timeline(LifeReport& report, const std::vector<sim::JobQueue::Run>& runs, Time end) const {
  std::multimap<Time, int> used;  // nodes that jobs take and give back
  for (const auto& run : runs) {
    used.emplace(run.from, static_cast<int>(run.nodes.size()));
    if (run.to < end) used.emplace(run.to, -static_cast<int>(run.nodes.size()));
  }
  const Millis step = std::max(Millis(1), scenario_.duration / kMostPoints);
  std::vector<int> wished(report.groups.size());
  Point now{Millis(0), std::vector<int>(report.groups.size()), 0, 0};
  auto change = changes_.begin();
  auto take = used.begin();
  while (change != changes_.end() || take != used.end()) {
    const bool is_change = take == used.end() || (change != changes_.end() && change->at <= take->first);
    const Millis at = since(is_change ? change->at : take->first);
    if (at / step != now.at / step) report.timeline.push_back(now);
    now.at = at;
    if (is_change) {
      const auto group = static_cast<std::size_t>(change->group);
      now.ready[group] = change->ready;
      now.wished += change->wished - std::exchange(wished[group], change->wished);
      ++change;
    } else {
      now.used += take->second;
      ++take;
    }
  }
  report.timeline.push_back(std::move(now));
}

}  // namespace espalier::simulate
