// The promises of store.h, held by every back end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/random.h"
#include "store/faulty.h"
#include "store/rules.h"
#include "store/sqlite/unflushed.h"
#include "store/store.h"
#include "store/test_samples.h"

namespace espalier::store {
namespace {

using samples::change;
using samples::create;
using samples::event;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A back end, and its file while the test runs.
class Backend {
 public:
  explicit Backend(const std::string& name) : name_(name) {
    folder_ = std::filesystem::temp_directory_path() / ("espalier-" + secret_hex(8));
    std::filesystem::create_directory(folder_);
    open();
  }
  ~Backend() {
    faulty_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  Store& store() { return faulty_ ? *faulty_ : *store_; }
  // Closes and opens again, where there is something to open.
  void reopen() {
    if (name_ == "sqlite" || name_ == "unflushed") open();
  }

 private:
  void open() {
    store_.reset();
    if (name_ != "sqlite" && name_ != "unflushed") {
      store_ = memory_store();
    } else if (auto opened = name_ == "unflushed" ? unflushed_sqlite_store(folder_ / "state.db")
                                                  : sqlite_store(folder_ / "state.db")) {
      store_ = std::move(*opened);
    } else {
      throw std::runtime_error(opened.error().message);
    }
    if (name_ == "faulty") faulty_ = std::make_unique<FaultyStore>(*store_);
  }

  std::string name_;
  std::filesystem::path folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Store> faulty_;
};

class Conformance : public testing::TestWithParam<const char*> {
 protected:
  Result<std::int64_t> apply(const Commit& commit) { return store().apply(commit); }
  Store& store() { return backend_.store(); }
  // Everything in the store, as text.
  std::string contents() {
    json::array out;
    const auto loaded = store().load().value();
    for (const ClusterState& state : loaded)
      out.push_back(
          {state.revision, to_json(state.cluster), to_json(state.groups), slots(state), to_json(state.slurm)});
    return json::serialize(out);
  }
  static json::object slots(const ClusterState& state) {
    json::object out;
    for (const auto& [id, slot] : state.slots) out[id.value] = to_json(slot);
    return out;
  }
  std::vector<std::int64_t> sequences(EventQuery query) {
    query.cluster = ClusterId("c1");
    std::vector<std::int64_t> out;
    const auto events = store().events(query).value();
    for (const Event& found : events) out.push_back(found.sequence);
    return out;
  }
  // Cluster c1 with a few events: 1 cluster, 2 and 5 group a, 3 and 6 machines of a, 4 a machine of b.
  void create_with_events() {
    Commit commit = create("c1", "one");
    commit.events = {event(1),      event(2, "a"),       event(3, "a", "i-1"), event(4, "b", "i-2"),
                     event(5, "a"), event(6, "a", "i-3")};
    ASSERT_TRUE(apply(commit));
  }

  Backend backend_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Backends, Conformance, testing::Values("memory", "sqlite", "unflushed", "faulty"),
                         [](const auto& backend) { return std::string(backend.param); });

TEST_P(Conformance, StartsEmpty) {
  EXPECT_THAT(store().load().value(), IsEmpty());
  EXPECT_THAT(sequences({}), IsEmpty());
  EXPECT_EQ(store().event(ClusterId("c1"), "event-1").value(), std::nullopt);
  EXPECT_TRUE(store().prune_events(ClusterId("c1"), 1));
  EXPECT_EQ(contents(), "[]");  // asking made nothing
}

TEST_P(Conformance, RevisionGrowsByOneForEachCommitOfItsCluster) {
  EXPECT_EQ(apply(create("c1", "one")).value(), 1);
  EXPECT_EQ(apply(change("c1", 1)).value(), 2);
  EXPECT_EQ(apply(create("c2", "two")).value(), 1);
  EXPECT_EQ(apply(change("c1", 2)).value(), 3);
}

TEST_P(Conformance, RefusesAnotherRevisionAndChangesNothing) {
  ASSERT_TRUE(apply(create("c1", "one")));
  ASSERT_TRUE(apply(change("c1", 1)));
  const std::string before = contents();
  for (const std::int64_t revision : {0, 1, 3}) {
    Commit late = change("c1", revision);
    late.cluster_row = samples::cluster("c1", "renamed");
    late.put_groups = {samples::group("a", 1)};
    late.events = {event(1)};
    const auto refused = apply(late);
    ASSERT_FALSE(refused) << revision;
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    EXPECT_THAT(refused.error().message, HasSubstr("c1 is at revision 2"));
  }
  EXPECT_EQ(contents(), before);
  EXPECT_THAT(sequences({}), IsEmpty());
}

TEST_P(Conformance, RefusesToChangeAClusterThatIsNotThere) {
  EXPECT_EQ(apply(change("c1", 4)).error().code, ErrorCode::kConflict);
}

TEST_P(Conformance, RefusesCommitsThatContradictThemselves) {
  Commit without_row = change("c1", 0);
  EXPECT_EQ(apply(without_row).error().code, ErrorCode::kInvalid);
  Commit of_another = create("c1", "one");
  of_another.cluster_row->id = ClusterId("c2");
  EXPECT_EQ(apply(of_another).error().code, ErrorCode::kInvalid);
  Commit removal = create("c1", "one");
  removal.remove_cluster = true;
  EXPECT_EQ(apply(removal).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(contents(), "[]");
}

TEST_P(Conformance, NameIsUniqueWithinAccountAndRegion) {
  ASSERT_TRUE(apply(create("c1", "one")));
  const auto taken = apply(create("c2", "one"));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kExists);
  EXPECT_THAT(taken.error().message, testing::AllOf(HasSubstr("one"), HasSubstr("c1")));

  Commit elsewhere = create("c3", "one");
  elsewhere.cluster_row->region = "eu-central-1";
  EXPECT_TRUE(apply(elsewhere));
  Commit of_other = create("c4", "one");
  of_other.cluster_row->account = "999999999999";
  EXPECT_TRUE(apply(of_other));
}

TEST_P(Conformance, NameIsFreeAgainAfterRenameAndRemoval) {
  ASSERT_TRUE(apply(create("c1", "one")));
  Commit rename = change("c1", 1);
  rename.cluster_row = samples::cluster("c1", "uno");
  ASSERT_TRUE(apply(rename));
  ASSERT_TRUE(apply(create("c2", "one")));
  rename.expected_revision = 2;
  rename.cluster_row->name = "one";
  EXPECT_EQ(apply(rename).error().code, ErrorCode::kExists);

  Commit removal = change("c2", 1);
  removal.remove_cluster = true;
  ASSERT_TRUE(apply(removal));
  EXPECT_TRUE(apply(rename));
}

TEST_P(Conformance, LoadGivesBackWhatWasCommitted) {
  Commit commit = create("c1", "one");
  commit.put_groups = {samples::group("a", 2), samples::group("b", 0)};
  commit.put_slots = {samples::slot("a", 1), samples::slot("a", 2)};
  commit.slurm = SlurmApplied{
      {{"slurm.conf", "ClusterName=one\n"}}, {{"train", "a-[1-2]"}}, 3, samples::at(9), "why", false, "24.11", {}};
  ASSERT_TRUE(apply(commit));
  backend_.reopen();

  const auto loaded = store().load().value();
  ASSERT_EQ(loaded.size(), 1u);
  const ClusterState& state = loaded[0];
  EXPECT_EQ(state.revision, 1);
  EXPECT_EQ(to_json(state.cluster), to_json(*commit.cluster_row));
  EXPECT_EQ(to_json(state.groups),
            json::value(json::object{{"a", to_json(commit.put_groups[0])}, {"b", to_json(commit.put_groups[1])}}));
  EXPECT_EQ(slots(state),
            json::object({{"a-slot-1", to_json(commit.put_slots[0])}, {"a-slot-2", to_json(commit.put_slots[1])}}));
  EXPECT_EQ(to_json(state.slurm), to_json(*commit.slurm));
}

TEST_P(Conformance, ChangesOnlyWhatACommitNames) {
  Commit commit = create("c1", "one");
  commit.put_groups = {samples::group("a", 2), samples::group("b", 1)};
  commit.put_slots = {samples::slot("a", 1), samples::slot("a", 2), samples::slot("b", 1)};
  commit.slurm = SlurmApplied{{{"f", "t"}}, {}, 1, samples::at(9), "", false, "", {}};
  ASSERT_TRUE(apply(commit));

  Commit next = change("c1", 1);
  next.put_groups = {samples::group("a", 5)};
  next.drop_groups = {"b", "never-there"};
  next.put_slots = {samples::slot("a", 3)};
  next.drop_slots = {SlotId("b-slot-1"), SlotId("a-slot-1")};
  ASSERT_TRUE(apply(next));
  backend_.reopen();

  const ClusterState state = store().load().value().at(0);
  EXPECT_EQ(state.groups.size(), 1u);
  EXPECT_EQ(state.groups.at("a").target_count, 5);
  EXPECT_EQ(slots(state),
            json::object({{"a-slot-2", to_json(samples::slot("a", 2))}, {"a-slot-3", to_json(samples::slot("a", 3))}}));
  EXPECT_EQ(state.slurm, *commit.slurm);
  EXPECT_EQ(to_json(state.cluster), to_json(*commit.cluster_row));
}

TEST_P(Conformance, DropsGoBeforePuts) {
  ASSERT_TRUE(apply(create("c1", "one")));
  Commit both = change("c1", 1);
  both.put_groups = {samples::group("a", 1)};
  both.drop_groups = {"a"};
  both.put_slots = {samples::slot("a", 1)};
  both.drop_slots = {SlotId("a-slot-1")};
  ASSERT_TRUE(apply(both));
  const ClusterState state = store().load().value().at(0);
  EXPECT_EQ(state.groups.size(), 1u);
  EXPECT_EQ(state.slots.size(), 1u);
}

TEST_P(Conformance, LastEventIsKeptWithoutTheClustersRow) {
  ASSERT_TRUE(apply(create("c1", "one")));
  Commit commit = change("c1", 1);
  commit.events = {event(1), event(2)};
  ASSERT_TRUE(apply(commit));
  ASSERT_TRUE(store().prune_events(ClusterId("c1"), 0));
  backend_.reopen();
  EXPECT_EQ(store().load().value().at(0).cluster.last_event, 2);
  EXPECT_THAT(sequences({}), IsEmpty());
}

TEST_P(Conformance, EventSequencesGrowByOne) {
  create_with_events();
  for (const std::int64_t wrong : {0, 1, 6, 8}) {
    Commit commit = change("c1", 1);
    commit.events = {event(wrong)};
    EXPECT_EQ(apply(commit).error().code, ErrorCode::kInvalid) << wrong;
  }
  ASSERT_TRUE(store().prune_events(ClusterId("c1"), 0));  // what was pruned still counts
  Commit commit = change("c1", 1);
  commit.events = {event(7)};
  EXPECT_TRUE(apply(commit));
}

TEST_P(Conformance, EventIsFoundById) {
  create_with_events();
  const auto found = store().event(ClusterId("c1"), "event-3").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(to_json(*found), to_json(event(3, "a", "i-1")));
  EXPECT_EQ(store().event(ClusterId("c1"), "event-9").value(), std::nullopt);
  EXPECT_EQ(store().event(ClusterId("c2"), "event-3").value(), std::nullopt);
}

TEST_P(Conformance, EventsComeNewestFirstUnlessAskedOtherwise) {
  create_with_events();
  EXPECT_THAT(sequences({}), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(sequences({.ascending = true}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_P(Conformance, EventLimitTakesTheFirstInOrder) {
  create_with_events();
  EXPECT_THAT(sequences({.limit = 2}), ElementsAre(6, 5));
  EXPECT_THAT(sequences({.ascending = true, .limit = 2}), ElementsAre(1, 2));
  EXPECT_THAT(sequences({.limit = 0}), IsEmpty());
  EXPECT_THAT(sequences({.limit = -1}), IsEmpty());
}

TEST_P(Conformance, EventFiltersCombine) {
  create_with_events();
  EXPECT_THAT(sequences({.group = "a"}), ElementsAre(6, 5, 3, 2));
  EXPECT_THAT(sequences({.group = "a", .resource = ResourceType::InstanceGroup}), ElementsAre(5, 2));
  EXPECT_THAT(sequences({.group = "a", .resource = ResourceType::Instance}), ElementsAre(6, 3));
  EXPECT_THAT(sequences({.instance = MachineId("i-2")}), ElementsAre(4));
  EXPECT_THAT(sequences({.group = "a", .instance = MachineId("i-2")}), IsEmpty());
  EXPECT_THAT(sequences({.resource = ResourceType::Cluster}), ElementsAre(1));
  EXPECT_THAT(sequences({.after = samples::at(2000), .before = samples::at(5000)}), ElementsAre(4, 3));
  EXPECT_THAT(sequences({.after = samples::at(6000)}), IsEmpty());
  EXPECT_THAT(sequences({.before = samples::at(1000)}), IsEmpty());
  EXPECT_THAT(sequences({.after_sequence = 2, .before_sequence = 5, .ascending = true}), ElementsAre(3, 4));
  EXPECT_THAT(sequences({.group = "a", .before_sequence = 6, .limit = 1}), ElementsAre(5));
}

TEST_P(Conformance, EventTimesMayGoBack) {
  ASSERT_TRUE(apply(create("c1", "one")));
  Commit commit = change("c1", 1);
  const std::int64_t times[] = {10, 90, 20, 30, 95, 40};  // a clock that stood wrong twice
  for (std::int64_t i = 0; i < 6; ++i) {
    commit.events.push_back(event(i + 1));
    commit.events.back().time = samples::at(times[i]);
  }
  ASSERT_TRUE(apply(commit));
  EXPECT_THAT(sequences({.after = samples::at(19), .before = samples::at(41)}), ElementsAre(6, 4, 3));
  EXPECT_THAT(sequences({.after = samples::at(40)}), ElementsAre(5, 2));
  EXPECT_THAT(sequences({.before = samples::at(20)}), ElementsAre(1));
}

TEST_P(Conformance, EventSearchAgreesWithItsDefinition) {
  Random random(7);
  Commit commit = create("c1", "one");
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::string instance = random.below(2) == 0 ? "" : "i-" + std::to_string(random.below(4));
    commit.events.push_back(event(i, random.below(4) == 0 ? "" : "g" + std::to_string(random.below(3)), instance));
    commit.events.back().time = samples::at(static_cast<std::int64_t>(i * 10 + random.below(40)));
  }
  ASSERT_TRUE(apply(commit));
  for (int round = 0; round < 300; ++round) {
    EventQuery query;
    if (random.below(2) == 0) query.group = "g" + std::to_string(random.below(4));
    if (random.below(3) == 0) query.instance = MachineId("i-" + std::to_string(random.below(5)));
    if (random.below(2) == 0) query.resource = static_cast<ResourceType>(random.below(3));
    if (random.below(2) == 0) query.after = samples::at(static_cast<std::int64_t>(random.below(2200)));
    if (random.below(2) == 0) query.before = samples::at(static_cast<std::int64_t>(random.below(2200)));
    if (random.below(2) == 0) query.after_sequence = static_cast<std::int64_t>(random.below(200));
    if (random.below(2) == 0) query.before_sequence = static_cast<std::int64_t>(random.below(220));
    query.limit = static_cast<int>(random.below(50));
    query.ascending = random.below(2) == 0;

    std::vector<std::int64_t> expected;
    for (const Event& each : commit.events)
      if (matches(query, each)) expected.push_back(each.sequence);
    if (!query.ascending) std::reverse(expected.begin(), expected.end());
    if (std::ssize(expected) > query.limit) expected.resize(static_cast<std::size_t>(query.limit));
    ASSERT_EQ(sequences(query), expected) << "round " << round;
  }
}

TEST_P(Conformance, PruneKeepsTheNewestEventsOfThatCluster) {
  create_with_events();
  Commit other = create("c2", "two");
  other.events = {event(1)};
  ASSERT_TRUE(apply(other));
  ASSERT_TRUE(store().prune_events(ClusterId("c1"), 10));
  EXPECT_THAT(sequences({}), ElementsAre(6, 5, 4, 3, 2, 1));
  ASSERT_TRUE(store().prune_events(ClusterId("c1"), 2));
  EXPECT_THAT(sequences({}), ElementsAre(6, 5));
  ASSERT_TRUE(store().prune_events(ClusterId("c1"), -1));
  EXPECT_THAT(sequences({}), IsEmpty());
  EXPECT_EQ(store().events({.cluster = ClusterId("c2")}).value().size(), 1u);
}

TEST_P(Conformance, RemovalTakesEverythingOfThatClusterOnly) {
  create_with_events();
  Commit parts = change("c1", 1);
  parts.put_groups = {samples::group("a", 1)};
  parts.put_slots = {samples::slot("a", 1)};
  parts.slurm = SlurmApplied{};
  ASSERT_TRUE(apply(parts));
  Commit other = create("c2", "two");
  other.put_groups = {samples::group("a", 1)};
  other.put_slots = {samples::slot("a", 1)};
  ASSERT_TRUE(apply(other));

  Commit removal = change("c1", 1);
  removal.remove_cluster = true;
  EXPECT_EQ(apply(removal).error().code, ErrorCode::kConflict);
  removal.expected_revision = 2;
  EXPECT_EQ(apply(removal).value(), 3);
  EXPECT_THAT(sequences({}), IsEmpty());
  ASSERT_TRUE(apply(create("c1", "one")));  // the same id again: nothing of the old one is left
  backend_.reopen();
  const auto loaded = store().load().value();
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].revision, 1);
  EXPECT_EQ(loaded[0].cluster.last_event, 0);
  EXPECT_TRUE(loaded[0].groups.empty());
  EXPECT_TRUE(loaded[0].slots.empty());
  EXPECT_EQ(loaded[1].groups.size(), 1u);
  EXPECT_EQ(loaded[1].slots.size(), 1u);
}

TEST_P(Conformance, SeveralThreadsOnClustersOfTheirOwn) {
  constexpr int kThreads = 8, kCommits = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([this, t] {
      const std::string id = "c" + std::to_string(t);
      EXPECT_TRUE(apply(create(id, id)));
      for (std::int64_t i = 1; i <= kCommits; ++i) {
        Commit commit = change(id, i);
        commit.events = {event(i)};
        EXPECT_EQ(apply(commit).value_or(-1), i + 1);
        EXPECT_EQ(store().events({.cluster = ClusterId(id), .limit = 1}).value().at(0).sequence, i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const auto loaded = store().load().value();
  EXPECT_EQ(loaded.size(), kThreads);
  for (const ClusterState& state : loaded) EXPECT_EQ(state.revision, kCommits + 1);
}

TEST_P(Conformance, OfRivalsForOneRevisionExactlyOneWins) {
  ASSERT_TRUE(apply(create("c1", "one")));
  std::atomic<int> won = 0, lost = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (std::int64_t revision = 1; revision <= 20; ++revision) {
        const auto result = apply(change("c1", revision));
        result ? ++won : ++lost;
        EXPECT_TRUE(result || result.error().code == ErrorCode::kConflict);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won + lost, 160);
  EXPECT_EQ(store().load().value().at(0).revision, won + 1);
}

TEST_P(Conformance, AccessKeysAreKeptChangedAndDropped) {
  EXPECT_THAT(store().access_keys().value(), IsEmpty());
  AccessKey ci{.id = "ESPKB", .name = "ci", .role = Role::Operator, .clusters = {"a", "b"}, .sealed = "x"};
  const AccessKey boss{.id = "ESPKA", .name = "boss", .role = Role::Admin, .created_at = Time(Millis(7))};
  ASSERT_TRUE(store().put_access_key(ci));
  ASSERT_TRUE(store().put_access_key(boss));
  ci.expires_at = Time(Millis(5));
  ASSERT_TRUE(store().put_access_key(ci));
  backend_.reopen();
  EXPECT_THAT(store().access_keys().value(), ElementsAre(boss, ci));
  ASSERT_TRUE(store().drop_access_key(boss.id));
  ASSERT_TRUE(store().drop_access_key("never there"));
  EXPECT_THAT(store().access_keys().value(), ElementsAre(ci));
}

}  // namespace
}  // namespace espalier::store
