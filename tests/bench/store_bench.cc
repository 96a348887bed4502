// Commits a second into the state file, alone and when many wait together, and the search of a million events.
// The file is made in $TMPDIR: a disk gives other figures than memory.
#include <benchmark/benchmark.h>

#include <atomic>
#include <filesystem>

#include "base/random.h"
#include "store/store.h"

namespace espalier::store {
namespace {

// A state file that ends with the benchmark.
class TemporaryStore {
 public:
  TemporaryStore() {
    std::filesystem::create_directory(folder_);
    store_ = std::move(sqlite_store(folder_ / "state.db").value());
  }
  ~TemporaryStore() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  TemporaryStore(const TemporaryStore&) = delete;
  TemporaryStore& operator=(const TemporaryStore&) = delete;
  Store& operator*() { return *store_; }
  Store* operator->() { return store_.get(); }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-bench-" + secret_hex(8));
  std::unique_ptr<Store> store_;
};

Commit first_commit(const ClusterId& id) {
  Commit out;
  out.cluster = id;
  out.cluster_row.emplace();
  out.cluster_row->id = id;
  out.cluster_row->name = id.value;
  return out;
}

Event event(std::int64_t sequence) {
  Event out;
  out.sequence = sequence;
  out.id = "6f1c3a52-0000-4000-8000-" + std::to_string(100'000'000'000 + sequence);
  out.time = Time(Millis(1'700'000'000'000 + 1000 * sequence));
  out.resource = sequence % 10 == 0 ? ResourceType::InstanceGroup : ResourceType::Instance;
  out.group = "workers-" + std::to_string(sequence % 7);
  if (out.resource == ResourceType::Instance) out.instance = MachineId("i-" + std::to_string(sequence % 1000));
  out.description = "The machine has joined the cluster and takes jobs.";
  return out;
}

// One step of a slot: its row and one event.
Commit step(const ClusterId& id, std::int64_t revision) {
  Commit out;
  out.cluster = id;
  out.expected_revision = revision;
  Slot& slot = out.put_slots.emplace_back();
  slot.id = SlotId("slot-" + std::to_string(revision % 100));
  slot.group = "workers";
  slot.machine = Machine{MachineId("i-0123456789abcdef0"), "10.77.0.9", {{"nn-1", "nn-2", "nn-3"}, ""}, "a", {}, ""};
  out.events.push_back(event(revision));
  return out;
}

void commits(benchmark::State& state) {
  static std::unique_ptr<TemporaryStore> store;
  if (state.thread_index() == 0) store = std::make_unique<TemporaryStore>();
  const ClusterId id("c" + std::to_string(state.thread_index()));
  std::int64_t revision = 0;
  for (auto _ : state) {  // the threads start their first round together, when the store is there
    const auto done = (*store)->apply(revision == 0 ? first_commit(id) : step(id, revision));
    if (!done) state.SkipWithError(done.error().message.c_str());
    revision = done.value_or(0);
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) store.reset();  // they have all ended theirs, too
}
BENCHMARK(commits)->Threads(1)->Threads(8)->Threads(64)->UseRealTime();

TemporaryStore& a_million_events() {
  static TemporaryStore store;
  static const bool filled = [] {
    Commit commit = first_commit(ClusterId("c1"));
    for (std::int64_t sequence = 1; sequence <= 1'000'000; ++sequence) {
      commit.events.push_back(event(sequence));
      if (sequence % 20'000 != 0) continue;
      commit.expected_revision = store->apply(commit).value();
      commit.events.clear();
    }
    return true;
  }();
  benchmark::DoNotOptimize(filled);
  return store;
}

void search(benchmark::State& state, EventQuery query) {
  TemporaryStore& store = a_million_events();
  query.cluster = ClusterId("c1");
  std::size_t found = 0;
  for (auto _ : state) found = store->events(query).value().size();
  state.counters["found"] = static_cast<double>(found);
}
const Time kMiddle = Time(Millis(1'700'000'000'000 + 500'000'000));
BENCHMARK_CAPTURE(search, newest, {});
BENCHMARK_CAPTURE(search, group, {.group = "workers-3"});
BENCHMARK_CAPTURE(search, machine, {.instance = MachineId("i-77")});
BENCHMARK_CAPTURE(search, resource, {.resource = ResourceType::InstanceGroup});
BENCHMARK_CAPTURE(search, groups_of_one, {.group = "workers-3", .resource = ResourceType::InstanceGroup});
BENCHMARK_CAPTURE(search, before_the_middle, {.before = kMiddle});
BENCHMARK_CAPTURE(search, after_the_middle_oldest_first, {.after = kMiddle, .ascending = true});
BENCHMARK_CAPTURE(search, machine_around_the_middle,
                  {.instance = MachineId("i-77"), .after = kMiddle - Millis(5'000'000), .before = kMiddle});

}  // namespace
}  // namespace espalier::store
