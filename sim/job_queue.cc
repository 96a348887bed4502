#include "job_queue.h"

#include <algorithm>
#include <utility>

namespace espalier::sim {

namespace {

constexpr std::size_t kDepth = 500;  // waiting jobs of a partition that are looked at, as Slurm's bf_max_job_test

// What the first job that cannot start is promised: when it will, and how many nodes are idle then beyond its own.
struct Promise {
  Time at = Time::max();  // not with the nodes that there are
  int spare = 0;
};

Promise promise(int nodes, std::vector<RunningJob> running, int idle) {
  std::ranges::sort(running, {}, &RunningJob::ends);
  for (const RunningJob& job : running) {
    idle += job.nodes;
    if (idle >= nodes) return {job.ends, idle - nodes};
  }
  return {};
}

// What is left of it when it ends now.
Millis left_after(const JobQueue::Job& job, Millis ran) {
  const Millis step = job.wish.checkpoint;
  return step > Millis(0) ? job.left - ran / step * step : job.left;
}

}  // namespace

std::vector<std::size_t> startable(const std::vector<WaitingJob>& waiting, std::vector<RunningJob> running, int idle,
                                   Time now) {
  std::vector<std::size_t> out;
  std::optional<Promise> promised;
  for (std::size_t i = 0; i < std::min(waiting.size(), kDepth) && idle > 0; ++i) {
    const WaitingJob& job = waiting[i];
    if (job.nodes > idle) {
      if (!promised) promised = promise(job.nodes, running, idle);
      continue;
    }
    if (promised && now + job.left > promised->at) {
      if (job.nodes > promised->spare) continue;
      promised->spare -= job.nodes;
    }
    out.push_back(i);
    idle -= job.nodes;
    running.push_back({job.nodes, now + job.left});
  }
  return out;
}

void JobQueue::submit(JobWish wish, Time now) {
  waiting_[wish.partition].insert(jobs_.size());
  const Millis left = wish.runs;
  jobs_.push_back({std::move(wish), now, {}, {}, left});
  seen_ = 0;
}

void JobQueue::look(Slurm& slurm, Time now) {
  end_runs(slurm, now);
  if (!slurm.up() || slurm.version() == seen_) return;
  for (const auto& [partition, waiting] : std::map(waiting_))
    if (!waiting.empty()) start_in(slurm, partition, waiting, now);
  seen_ = slurm.version();
}

void JobQueue::end_runs(Slurm& slurm, Time now) {
  for (auto it = running_.begin(); it != running_.end();) {
    auto& [number, run] = *it;
    Job& job = jobs_[run.job];
    const bool lost = !slurm.jobs().contains(number);
    const bool over = now >= run.from + job.left;
    if (!lost && !over) {
      ++it;
      continue;
    }
    if (over) {
      slurm.end_job(number);
      job.ended = now;
    } else {
      job.left = left_after(job, now - run.from);
      ++job.restarts;
      waiting_[job.wish.partition].insert(run.job);
    }
    run.to = now;
    ended_.push_back(std::move(run));
    it = running_.erase(it);
    seen_ = 0;
  }
}

void JobQueue::start_in(Slurm& slurm, const std::string& partition, const std::set<std::size_t>& waiting, Time now) {
  const auto nodes = slurm.partitions().find(partition);
  if (nodes == slurm.partitions().end()) return;
  const auto idle = std::ranges::count_if(nodes->second, [&](const auto& node) { return slurm.usable(node); });
  std::vector<std::size_t> jobs;
  std::vector<WaitingJob> wished;
  for (const std::size_t i : waiting) {
    if (jobs.size() == kDepth) break;
    jobs.push_back(i);
    wished.push_back({jobs_[i].wish.nodes, jobs_[i].left});
  }
  std::vector<RunningJob> running;
  for (const auto& [number, run] : running_)
    if (const Job& job = jobs_[run.job]; job.wish.partition == partition)
      running.push_back({job.wish.nodes, run.from + job.left});
  for (const std::size_t place : startable(wished, std::move(running), static_cast<int>(idle), now)) {
    Job& job = jobs_[jobs[place]];
    const int number = slurm.start_job(partition, job.wish.nodes);
    if (number == 0) return;
    if (!job.started) job.started = now;
    running_[number] = {jobs[place], slurm.jobs().at(number).nodes, now, now};
    waiting_[partition].erase(jobs[place]);
  }
}

std::vector<JobQueue::Run> JobQueue::runs(Time now) const {
  std::vector<Run> out = ended_;
  for (const auto& [number, run] : running_) {
    out.push_back(run);
    out.back().to = now;
  }
  return out;
}

}  // namespace espalier::sim
