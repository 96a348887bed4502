// The engine over a memory store and a cloud that does what it is told: time, threads and agents are the test's.
#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fake_agent_test.h"
#include "provider/sim/fake_provider.h"
#include "reconcile/example_wish_test.h"
#include "store/faulty.h"

namespace espalier::engine {
namespace {

using reconcile::ClusterChange;
using reconcile::ClusterWish;
using reconcile::GroupWish;
using sim::FakeProvider;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Call = FakeProvider::Call;

constexpr Millis kSecond{1000};
constexpr const char* kAccount = "123456789012";
constexpr const char* kRegion = "us-west-2";
constexpr const char* kControllerType = "ml.m5.xlarge";
constexpr const char* kWorkerType = "ml.m5.large";

GroupWish group(const std::string& name, NodeType type, const std::string& instance_type, int count) {
  return reconcile::example_group(name, type, instance_type, count, name + "-part");
}

ClusterWish example(const std::string& name = "demo") {
  return reconcile::example_cluster(
      {group("ctl", NodeType::Controller, kControllerType, 1), group("cpu", NodeType::Compute, kWorkerType, 2)}, name);
}

ClusterChange scale(int count) {
  ClusterChange change;
  change.groups = {group("cpu", NodeType::Compute, kWorkerType, count)};
  return change;
}

// Counts, calls back before a cluster is removed, and when it was and the engine has not heard of it.
class HookedStore final : public store::Store {
 public:
  explicit HookedStore(store::Store& inner) : inner_(inner) {}
  Result<std::int64_t> apply(const store::Commit& commit) override {
    ++tries;
    if (commit.remove_cluster && removing) std::exchange(removing, nullptr)();
    auto revision = inner_.apply(commit);
    if (revision && commit.remove_cluster && removed) removed();
    return revision;
  }
  Result<std::vector<ClusterState>> load() override { return inner_.load(); }
  Result<std::vector<Event>> events(const store::EventQuery& query) override { return inner_.events(query); }
  Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& id) override {
    return inner_.event(cluster, id);
  }
  Result<void> prune_events(const ClusterId& cluster, std::int64_t keep) override {
    return inner_.prune_events(cluster, keep);
  }
  Result<std::vector<AccessKey>> access_keys() override { return inner_.access_keys(); }
  Result<void> put_access_key(const AccessKey& key) override { return inner_.put_access_key(key); }
  Result<void> drop_access_key(const std::string& id) override { return inner_.drop_access_key(id); }
  int tries = 0;
  std::function<void()> removing;
  std::function<void()> removed;

 private:
  store::Store& inner_;
};

// What ends with the process.
struct Process {
  Process(const std::string& boot, Clock& clock, store::Store& store, Provider& provider)
      : hub(boot, clock, timers),
        engine({clock, steps, provider_calls, timers, store, provider, hub, [] { return Random::from_system(); }},
               {{}, "http://10.77.0.1:8651"}) {}

  ManualExecutor steps;
  ManualExecutor provider_calls;
  ManualTimers timers;
  AgentHub hub;
  Engine engine;
};

class EngineTest : public testing::Test {
 protected:
  EngineTest() { start("boot-1"); }
  void TearDown() override { EXPECT_THAT(provider_.violations(), IsEmpty()); }

  void start(const std::string& boot) {
    process_.reset();
    process_ = std::make_unique<Process>(boot, clock_, store_, provider_);
    ASSERT_TRUE(engine().start());
  }
  Engine& engine() { return process_->engine; }

  // Runs all that can run without time passing.
  void settle() {
    std::size_t ran = 1;
    while (ran > 0)
      ran = process_->steps.run_all() + process_->provider_calls.run_all() + process_->timers.run_due(clock_.now());
  }
  void pass(Millis length) {
    const Time end = clock_.now() + length;
    settle();
    for (auto next = process_->timers.next(); next && *next <= end; next = process_->timers.next()) {
      if (*next > clock_.now()) clock_.advance(*next - clock_.now());
      settle();
    }
    clock_.advance(end - clock_.now());
    settle();
  }
  Result<void> update(const ClusterId& cluster, const ClusterChange& change) {
    std::optional<Result<void>> answer;
    engine().update(cluster, change, [&](const Result<void>& result) { answer = result; });
    settle();
    return answer.value();
  }
  Result<void> remove(const ClusterId& cluster) {
    std::optional<Result<void>> answer;
    engine().remove(cluster, [&](const Result<void>& result) { answer = result; });
    settle();
    return answer.value();
  }
  // Runs no step of the new cluster.
  Result<ClusterId> try_create(const ClusterWish& wish = example()) {
    std::optional<Result<ClusterId>> answer;
    engine().create(wish, [&](const Result<ClusterId>& result) { answer = result; });
    while (!answer) EXPECT_TRUE(process_->steps.run_one());
    return *answer;
  }

  ClusterId create(const ClusterWish& wish = example()) {
    auto made = try_create(wish);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(ClusterId());
  }
  ClusterState state(const ClusterId& cluster) {
    ClusterState copy;
    EXPECT_TRUE(engine().read(cluster, [&](const View& view) { copy = view.state; }));
    return copy;
  }
  Slot slot(const ClusterId& cluster, const std::string& node) {
    for (const auto& [id, slot] : state(cluster).slots)
      if (slot.node_name == node) return slot;
    ADD_FAILURE() << "no slot " << node;
    return {};
  }
  FakeAgent agent_of(const Slot& slot) { return {process_->hub, slot.machine ? slot.machine->id.value : ""}; }
  // Enrols, and makes the first call.
  FakeAgent enrolled(const Slot& slot) {
    FakeAgent agent = agent_of(slot);
    const auto answer = agent.enrol(slot.token);
    settle();
    EXPECT_EQ(status_of(answer), 200) << body_of(answer);
    if (status_of(answer) != 200) return agent;
    agent.credential = from_json<agent::Enrolled>(parse_json(body_of(answer)).value())->credential;
    EXPECT_THAT(agent.take(agent.next()), IsEmpty());
    settle();
    return agent;
  }
  // Carries out whatever comes until nothing does.
  void works(FakeAgent& agent) {
    for (int rounds = 0; rounds < 20; ++rounds) {
      const auto poll = agent.next();
      if (!*poll) return;
      for (const auto& command : agent.take(poll)) agent.done(command);
      settle();
    }
    ADD_FAILURE() << "there is no end to the commands";
  }
  // A controller that is Ready.
  FakeAgent controller_up(const ClusterId& cluster) {
    settle();
    FakeAgent agent = enrolled(slot(cluster, "ctl-1"));
    works(agent);
    EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Ready);
    return agent;
  }
  std::vector<std::string> launched() {
    std::vector<std::string> nodes;
    for (const auto& request : provider_.launches()) nodes.push_back(request.host_name);
    return nodes;
  }

  ManualClock clock_{Time(Millis(1'800'000'000'000))};
  std::unique_ptr<store::Store> disk_ = store::memory_store();
  store::FaultyStore faulty_{*disk_};
  HookedStore store_{faulty_};
  FakeProvider provider_{clock_};
  std::unique_ptr<Process> process_;
};

// ---- create ----------------------------------------------------------------------------------------------------

TEST_F(EngineTest, CreateLaunchesTheControllerAndNothingElseYet) {
  const ClusterId cluster = create();
  EXPECT_THAT(disk_->load().value(), SizeIs(1)) << "it is on disk when the answer goes out";
  settle();
  EXPECT_EQ(provider_.calls(Call::kList), 1);
  ASSERT_THAT(launched(), ElementsAre("ctl-1"));
  const LaunchRequest request = provider_.launches()[0];
  EXPECT_EQ(request.cluster, cluster);
  EXPECT_EQ(request.instance_type, kControllerType);
  EXPECT_EQ(request.user_data.control_plane, "http://10.77.0.1:8651");
  EXPECT_EQ(request.user_data.token, slot(cluster, "ctl-1").token);
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Booting);
}

TEST_F(EngineTest, WorkersAreLaunchedWhenTheControllerIsUp) {
  const ClusterId cluster = create();
  controller_up(cluster);
  EXPECT_THAT(launched(), testing::UnorderedElementsAre("ctl-1", "cpu-1", "cpu-2"));
  EXPECT_EQ(state(cluster).cluster.status, ClusterStatus::InService);
}

TEST_F(EngineTest, NothingIsLaunchedBeforeTheMachinesAreListed) {
  provider_.fail_next(Call::kList, {ErrorCode::kUnavailable, "no answer"});
  create();
  settle();
  EXPECT_THAT(launched(), IsEmpty());
  pass(kSecond);
  EXPECT_EQ(provider_.calls(Call::kList), 2);
  EXPECT_THAT(launched(), ElementsAre("ctl-1"));
}

TEST_F(EngineTest, NameIsTakenWithinAccountAndRegion) {
  create();
  const auto second = try_create();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  EXPECT_THAT(second.error().message, HasSubstr("demo is already in use in region us-west-2"));
  ClusterWish elsewhere = example();
  elsewhere.region = "eu-north-1";
  EXPECT_NE(create(elsewhere), ClusterId());
  EXPECT_THAT(engine().list(kAccount, kRegion), SizeIs(1));
}

TEST_F(EngineTest, TypeThatTheProviderHasNotIsRefusedWithTheReason) {
  provider_.refuse(kWorkerType, "this host is too small");
  const auto made = try_create();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(made.error().message, HasSubstr("InstanceGroup cpu: "));
  EXPECT_THAT(made.error().message, HasSubstr("this host is too small"));
  EXPECT_THAT(disk_->load().value(), IsEmpty());
}

TEST_F(EngineTest, TypeThatTheProviderHasNotIsRefusedInAnUpdateToo) {
  const ClusterId cluster = create();
  provider_.refuse(kWorkerType, "this host is too small");
  const auto done = update(cluster, scale(4));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("this host is too small"));
  EXPECT_EQ(state(cluster).groups.at("cpu").target_count, 2);
}

TEST_F(EngineTest, ImageThatIsNotThereIsRefused) {
  auto change = scale(4);
  change.groups[0].image = "ami-00000000";
  EXPECT_THAT(update(create(), change).error().message, HasSubstr("InstanceGroup cpu: there is no image ami-00000000"));
}

TEST_F(EngineTest, FindsByNameAndByArn) {
  const ClusterId cluster = create();
  EXPECT_EQ(engine().find(kAccount, kRegion, "demo"), cluster);
  EXPECT_EQ(engine().find(kAccount, kRegion, arn_of(state(cluster).cluster)), cluster);
  EXPECT_FALSE(engine().find(kAccount, "eu-north-1", arn_of(state(cluster).cluster)));
  EXPECT_EQ(engine().find(kAccount, kRegion, "other").error().code, ErrorCode::kNotFound);
}

// ---- update ----------------------------------------------------------------------------------------------------

TEST_F(EngineTest, UpdateIsOnDiskWhenItIsAnswered) {
  const ClusterId cluster = create();
  settle();
  ASSERT_TRUE(update(cluster, scale(5)));
  EXPECT_EQ(disk_->load().value()[0].groups.at("cpu").target_count, 5);
}

TEST_F(EngineTest, UpdateThatMakesNoSenseIsRefused) {
  const ClusterId cluster = create();
  ClusterChange change;
  change.groups_to_delete = {"none"};
  EXPECT_FALSE(update(cluster, change));
}

TEST_F(EngineTest, UnknownClusterIsNotFound) {
  const ClusterId unknown("abcdefghijkl");
  EXPECT_EQ(update(unknown, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(remove(unknown).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine().read(unknown, [](const View&) { FAIL(); }).error().code, ErrorCode::kNotFound);
}

// ---- agents ----------------------------------------------------------------------------------------------------

TEST_F(EngineTest, TokenIsGoodForItsMachineOnly) {
  const ClusterId cluster = create();
  settle();
  const Slot controller = slot(cluster, "ctl-1");
  FakeAgent thief(process_->hub, "i-00000000000000bad");
  const auto stolen = thief.enrol(controller.token);
  FakeAgent agent = agent_of(controller);
  const auto wrong = agent.enrol(fmt::format("{}.{}.{}", cluster.value, controller.id.value, "0000"));
  const auto other_slot = agent.enrol(fmt::format("{}.none.{}", cluster.value, "0000"));
  const auto nonsense = agent.enrol("nonsense");
  const auto none = agent.enrol("");
  settle();
  EXPECT_EQ(status_of(stolen), 403);
  EXPECT_THAT(body_of(stolen), HasSubstr("another machine"));
  EXPECT_EQ(status_of(wrong), 403);
  EXPECT_EQ(status_of(other_slot), 403);
  EXPECT_EQ(status_of(nonsense), 403);
  EXPECT_EQ(status_of(none), 403);
  EXPECT_EQ(slot(cluster, "ctl-1").credential, "");

  const auto right = agent.enrol(controller.token);
  settle();
  EXPECT_EQ(status_of(right), 200);
  EXPECT_THAT(body_of(right), HasSubstr(slot(cluster, "ctl-1").credential));
}

TEST_F(EngineTest, EnrolmentAskedForTwiceGivesTheSameCredential) {
  const ClusterId cluster = create();
  settle();
  const Slot controller = slot(cluster, "ctl-1");
  FakeAgent agent = agent_of(controller);
  const auto first = agent.enrol(controller.token);
  const auto second = agent.enrol(controller.token);
  settle();
  EXPECT_EQ(status_of(first), 200);
  EXPECT_EQ(body_of(first), body_of(second));
}

// A token that was copied from its machine, with everything that stands beside it but the private key.
TEST_F(EngineTest, EnrolmentBindsToTheCertificateAndUsesTheTokenUp) {
  const ClusterId cluster = create();
  settle();
  const Slot controller = slot(cluster, "ctl-1");
  FakeAgent agent = agent_of(controller), thief = agent_of(controller);
  agent.certificate = "its own";
  thief.certificate = "the thief's";
  const auto first = agent.enrol(controller.token);
  settle();
  const std::string credential = slot(cluster, "ctl-1").credential;
  ASSERT_EQ(status_of(first), 200);
  const auto suspicions = [&] {
    int n = 0;
    const auto events = engine().events({.cluster = cluster, .limit = 1000}).value();
    for (const auto& event : events)
      if (event.description.find("An agent that called as node ctl-1 was refused") == 0) ++n;
    return n;
  };
  for (int i = 0; i < 3; ++i) {
    const auto stolen = thief.enrol(controller.token);
    settle();
    EXPECT_EQ(status_of(stolen), 403);
    EXPECT_THAT(body_of(stolen), testing::Not(HasSubstr(credential)));
  }
  EXPECT_EQ(suspicions(), 1) << "an event, but not one for each try";
  clock_.advance(std::chrono::minutes(1));
  thief.enrol(controller.token);
  settle();
  EXPECT_EQ(suspicions(), 2);
  clock_.advance(std::chrono::minutes(1));
  EXPECT_EQ(engine().authenticate(credential, "its own"), controller.machine->id);
  settle();
  EXPECT_EQ(suspicions(), 2) << "what is its own is no event";
  EXPECT_EQ(engine().authenticate(credential, "the thief's"), std::nullopt);
  EXPECT_EQ(engine().authenticate(credential, ""), std::nullopt);
  EXPECT_EQ(engine().authenticate("x" + credential, "the thief's"), std::nullopt);
  settle();
  EXPECT_EQ(suspicions(), 3) << "a stolen credential is one as well";
}

TEST_F(EngineTest, MachineThatIsQuickerThanItsLaunchIsToldToTryAgain) {
  const ClusterId cluster = create();
  while (process_->steps.run_one() || launched().empty()) {
    if (process_->steps.waiting() > 0) continue;
    if (slot(cluster, "ctl-1").state == SlotState::Launching) break;
    process_->provider_calls.run_one();
  }
  FakeAgent agent(process_->hub, "i-00000000000000001");
  const auto early = agent.enrol(slot(cluster, "ctl-1").token);
  process_->steps.run_all();
  EXPECT_EQ(status_of(early), 503);
}

TEST_F(EngineTest, CredentialSpeaksForItsMachine) {
  const ClusterId cluster = create();
  settle();
  FakeAgent agent = enrolled(slot(cluster, "ctl-1"));
  EXPECT_EQ(engine().authenticate(agent.credential, ""), slot(cluster, "ctl-1").machine->id);
  EXPECT_EQ(engine().authenticate(slot(cluster, "ctl-1").token, ""), std::nullopt) << "a token is no credential";
  std::string forged = agent.credential;
  forged.back() = forged.back() == '0' ? '1' : '0';
  EXPECT_EQ(engine().authenticate(forged, ""), std::nullopt);
  EXPECT_EQ(engine().authenticate(agent.credential, "of another machine"), std::nullopt);
  EXPECT_EQ(engine().authenticate("", ""), std::nullopt);
  EXPECT_EQ(engine().authenticate(cluster.value + ".", ""), std::nullopt);
}

TEST_F(EngineTest, NoMoreNodesAreKeptThanSlurmHas) {
  const ClusterId cluster = create();
  FakeAgent agent = controller_up(cluster);
  agent::Report report;
  for (int i = 0; i < 70'000; ++i) report.nodes.push_back({fmt::format("x-{}", i), "idle", "", ""});
  agent.report(report);
  settle();
  std::size_t kept = 0;
  ASSERT_TRUE(engine().read(cluster, [&](const View& view) { kept = view.slurm_nodes.size(); }));
  EXPECT_EQ(kept, 65'536u);
}

TEST_F(EngineTest, ARenewedCredentialTakesOverAtItsFirstUse) {
  const ClusterId cluster = create();
  FakeAgent agent = controller_up(cluster);
  const MachineId machine = slot(cluster, "ctl-1").machine->id;
  const std::string before = agent.credential, certificate(64, 'b');
  const auto renew = [&] {
    const auto answer = agent.post("/renew", json::serialize(to_json(agent::RenewCall{certificate})));
    settle();
    return from_json<agent::Enrolled>(parse_json(body_of(answer)).value())->credential;
  };
  const std::string next = renew();
  EXPECT_EQ(renew(), next) << "an answer may be lost";
  EXPECT_EQ(engine().authenticate(before, ""), machine);
  EXPECT_EQ(engine().authenticate(next, ""), std::nullopt) << "it is bound to the certificate";
  start("boot-2");
  EXPECT_EQ(engine().authenticate(before, ""), machine) << "neither is used up by a restart";
  EXPECT_EQ(engine().authenticate(next, certificate), machine);
  settle();
  EXPECT_EQ(engine().authenticate(before, ""), std::nullopt);
  start("boot-3");
  EXPECT_EQ(engine().authenticate(before, ""), std::nullopt);
  EXPECT_EQ(engine().authenticate(next, certificate), machine);
}

TEST_F(EngineTest, AgentIsToldToSetUpOnce) {
  const ClusterId cluster = create();
  settle();
  FakeAgent agent = enrolled(slot(cluster, "ctl-1"));
  const auto commands = agent.take(agent.next());
  ASSERT_THAT(commands, SizeIs(1));
  ASSERT_TRUE(commands[0].setup);
  EXPECT_EQ(commands[0].setup->role, NodeType::Controller);
  EXPECT_EQ(commands[0].setup->node_name, "ctl-1");
  EXPECT_THAT(commands[0].setup->files, Each(testing::Field(&agent::ConfigFile::text, testing::Ne(""))));

  const auto poll = agent.next();
  EXPECT_FALSE(*poll) << "what is acknowledged is not sent again";
  pass(agent::kLongPoll);
  EXPECT_THAT(agent.take(poll), IsEmpty());
  agent.done(commands[0]);
  settle();
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Joining);
}

TEST_F(EngineTest, AgentThatBootedAnewIsToldAgain) {
  const ClusterId cluster = create();
  settle();
  FakeAgent agent = enrolled(slot(cluster, "ctl-1"));
  const auto before = agent.take(agent.next());
  ASSERT_THAT(before, SizeIs(1));
  agent.boots_anew();
  EXPECT_THAT(agent.take(agent.next()), IsEmpty());
  settle();
  const auto after = agent.take(agent.next());
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_TRUE(after[0].setup);
  EXPECT_NE(after[0].id, before[0].id);
  agent.done(before[0]);  // the result of a command that nobody waits for any more
  settle();
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Configuring);
  agent.done(after[0]);
  settle();
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Joining);
}

TEST_F(EngineTest, MachineThatCannotBeSetUpIsReplaced) {
  const ClusterId cluster = create();
  settle();
  const Slot before = slot(cluster, "ctl-1");
  FakeAgent agent = enrolled(before);
  const auto poll = agent.next();
  for (const auto& command : agent.take(poll)) agent.done(command, false, "munged does not start");
  settle();
  EXPECT_THAT(provider_.terminated(), ElementsAre(before.machine->id));
  EXPECT_THAT(slot(cluster, "ctl-1").failure_message, HasSubstr("munged does not start"));
  EXPECT_EQ(engine().authenticate(agent.credential, ""), std::nullopt);
  pass(2 * kSecond);
  const Slot after = slot(cluster, "ctl-1");
  ASSERT_TRUE(after.machine);
  EXPECT_NE(after.machine->id, before.machine->id);
  EXPECT_NE(after.token, before.token);
}

TEST_F(EngineTest, MachineThatEndsIsReplaced) {
  const ClusterId cluster = create();
  FakeAgent controller = controller_up(cluster);
  const Slot before = slot(cluster, "cpu-1");
  provider_.end(before.machine->id);
  works(controller);  // its node is let go
  pass(5 * kSecond);
  const Slot after = slot(cluster, "cpu-1");
  EXPECT_EQ(after.id, before.id);
  ASSERT_TRUE(after.machine);
  EXPECT_NE(after.machine->id, before.machine->id);
  EXPECT_NE(after.token, before.token);
}

// ---- the store fails -------------------------------------------------------------------------------------------

TEST_F(EngineTest, NothingGoesOutBeforeItIsStored) {
  create();
  faulty_.plan({});
  settle();
  EXPECT_EQ(provider_.calls(Call::kList), 0);
  pass(kSecond - Millis(1));
  EXPECT_EQ(provider_.calls(Call::kList), 0);
  pass(Millis(1));
  EXPECT_EQ(provider_.calls(Call::kList), 1);
  EXPECT_THAT(launched(), ElementsAre("ctl-1"));
}

TEST_F(EngineTest, LaunchWaitsForItsKeyToBeOnDisk) {
  create();
  faulty_.plan({.at_commit = 2});
  settle();
  EXPECT_EQ(provider_.calls(Call::kList), 1);
  EXPECT_THAT(launched(), IsEmpty());
  pass(kSecond);
  ASSERT_THAT(launched(), SizeIs(1));
  const auto on_disk = disk_->load().value();
  EXPECT_EQ(on_disk[0].slots.at(provider_.launches()[0].slot).launch_key, provider_.launches()[0].key);
}

TEST_F(EngineTest, CommitThatWasMadeAndNotAnsweredIsNotMadeAgain) {
  const ClusterId cluster = create();
  faulty_.plan({.at_commit = 2, .takes_effect = true});
  settle();
  EXPECT_THAT(launched(), IsEmpty());
  pass(kSecond);
  EXPECT_THAT(launched(), ElementsAre("ctl-1"));
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Booting);
  EXPECT_EQ(state(cluster).revision, disk_->load().value()[0].revision);
}

TEST_F(EngineTest, CreateThatWasStoredAndNotAnsweredIsThere) {
  faulty_.plan({.takes_effect = true});
  const ClusterId cluster = create();
  EXPECT_EQ(engine().find(kAccount, kRegion, "demo"), cluster);
  settle();
  EXPECT_THAT(launched(), ElementsAre("ctl-1"));
}

TEST_F(EngineTest, CreateThatCannotBeStoredLeavesNothing) {
  faulty_.plan({.dies = true});
  EXPECT_FALSE(try_create());
  settle();
  EXPECT_FALSE(engine().find(kAccount, kRegion, "demo"));
  EXPECT_EQ(provider_.calls(Call::kList), 0);
}

TEST_F(EngineTest, WhatComesWhileTheStoreFailsIsHeardAfterwards) {
  const ClusterId cluster = create();
  settle();
  const Slot controller = slot(cluster, "ctl-1");
  FakeAgent agent = agent_of(controller);
  faulty_.plan({});
  const auto first = agent.enrol(controller.token);
  settle();
  EXPECT_FALSE(*first);
  pass(kSecond / 2);
  faulty_.plan({});  // the store fails for the second time when this comes in
  const auto second = agent.enrol(controller.token);
  settle();
  EXPECT_FALSE(*second);
  pass(2 * kSecond);
  EXPECT_EQ(status_of(first), 200);
  EXPECT_EQ(status_of(second), 200);
}

TEST_F(EngineTest, StoreThatFailsForLongIsAskedOnceASecond) {
  const ClusterId cluster = create();
  settle();
  const Slot controller = slot(cluster, "ctl-1");
  FakeAgent agent = agent_of(controller);
  faulty_.plan({.dies = true});
  const auto enrolment = agent.enrol(controller.token);
  settle();
  const int before = store_.tries;
  for (int i = 0; i < 100; ++i) {
    engine().capacity_changed();  // nobody who calls meanwhile makes it more
    pass(kSecond / 10);
  }
  EXPECT_EQ(store_.tries - before, 10);
  EXPECT_FALSE(*enrolment);
}

// ---- capacity --------------------------------------------------------------------------------------------------

TEST_F(EngineTest, MoreCapacityIsTriedAtOnce) {
  provider_.set_capacity(kControllerType, 0);
  const ClusterId cluster = create();
  pass(60 * kSecond);
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Backoff);
  EXPECT_THAT(slot(cluster, "ctl-1").failure_message, HasSubstr("are in use"));
  const auto tries = launched().size();
  provider_.set_capacity(kControllerType, 1);
  settle();
  EXPECT_THAT(launched(), SizeIs(tries)) << "nobody has told it yet";
  engine().capacity_changed();
  settle();
  EXPECT_THAT(launched(), SizeIs(tries + 1));
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Booting);
}

// ---- events ----------------------------------------------------------------------------------------------------

TEST_F(EngineTest, AwaitedEventAnswers) {
  const ClusterId cluster = create();
  settle();
  int at_once = 0;
  engine().await_event(cluster, 0, 60 * kSecond, [&] { ++at_once; });
  EXPECT_EQ(at_once, 1) << "there is one already";

  int called = 0;
  engine().await_event(cluster, state(cluster).cluster.last_event, 60 * kSecond, [&] { ++called; });
  pass(kSecond);
  EXPECT_EQ(called, 0);
  ASSERT_TRUE(update(cluster, scale(3)));
  EXPECT_EQ(called, 1);
  pass(120 * kSecond);
  EXPECT_EQ(called, 1) << "once, and not again by time";
}

TEST_F(EngineTest, AwaitedEventIsThereWhenItIsSaidToBe) {
  const ClusterId cluster = create();
  settle();
  const auto last = state(cluster).cluster.last_event;
  std::vector<Event> seen;
  engine().await_event(cluster, last, 60 * kSecond,
                       [&] { seen = engine().events({.cluster = cluster, .after_sequence = last}).value(); });
  ASSERT_TRUE(update(cluster, scale(3)));
  EXPECT_THAT(seen, testing::Not(IsEmpty()));
}

TEST_F(EngineTest, AwaitedEventEndsByTime) {
  const ClusterId cluster = create();
  settle();
  int called = 0;
  engine().await_event(cluster, state(cluster).cluster.last_event, 5 * kSecond, [&] { ++called; });
  pass(5 * kSecond - Millis(1));
  EXPECT_EQ(called, 0);
  pass(Millis(1));
  EXPECT_EQ(called, 1);
  engine().await_event(cluster, state(cluster).cluster.last_event, Millis(0), [&] { ++called; });
  EXPECT_EQ(called, 2);
}

TEST_F(EngineTest, AwaitedEventEndsWithTheCluster) {
  const ClusterId cluster = create();
  settle();
  int called = 0;
  engine().await_event(cluster, 1'000'000, 3600 * kSecond, [&] { ++called; });
  ASSERT_TRUE(remove(cluster));
  pass(kSecond);
  EXPECT_EQ(called, 1);
  engine().await_event(cluster, 1'000'000, 3600 * kSecond, [&] { ++called; });
  EXPECT_EQ(called, 2) << "a cluster that is gone is not waited for";
}

// ---- delete ----------------------------------------------------------------------------------------------------

TEST_F(EngineTest, DeleteTerminatesAllAndFreesTheName) {
  const ClusterId cluster = create();
  controller_up(cluster);
  std::vector<MachineId> machines;
  for (const auto& [id, slot] : state(cluster).slots) machines.push_back(slot.machine->id);
  ASSERT_THAT(machines, SizeIs(3));
  ASSERT_TRUE(remove(cluster));
  pass(kSecond);
  EXPECT_THAT(provider_.terminated(), testing::UnorderedElementsAreArray(machines));
  EXPECT_THAT(provider_.removed_volumes(), ElementsAre(cluster));
  EXPECT_THAT(engine().list(kAccount, kRegion), IsEmpty());
  EXPECT_FALSE(engine().find(kAccount, kRegion, "demo"));
  EXPECT_THAT(disk_->load().value(), IsEmpty());
  EXPECT_EQ(remove(cluster).error().code, ErrorCode::kNotFound);
  EXPECT_NE(create(), cluster);
}

TEST_F(EngineTest, DeleteGoesOnWhenTheProviderFailsFirst) {
  const ClusterId cluster = create();
  settle();
  provider_.fail_next(Call::kTerminate, {ErrorCode::kUnavailable, "no answer"});
  provider_.fail_next(Call::kRemoveVolumes, {ErrorCode::kUnavailable, "busy"});
  ASSERT_TRUE(remove(cluster));
  EXPECT_THAT(engine().list(kAccount, kRegion), SizeIs(1));
  pass(15 * kSecond);
  EXPECT_THAT(engine().list(kAccount, kRegion), IsEmpty());
  EXPECT_THAT(provider_.removed_volumes(), ElementsAre(cluster));
}

TEST_F(EngineTest, RemovalThatWasStoredAndNotAnsweredIsARemoval) {
  const ClusterId cluster = create();
  settle();
  store_.removing = [&] { faulty_.plan({.takes_effect = true}); };
  ASSERT_TRUE(remove(cluster));
  pass(10 * kSecond);
  EXPECT_THAT(disk_->load().value(), IsEmpty());
  EXPECT_THAT(engine().list(kAccount, kRegion), IsEmpty());
}

TEST_F(EngineTest, NameThatIsTakenAgainAtOnceStaysWithTheNewCluster) {
  const ClusterId old = create();
  settle();
  ClusterId fresh;
  store_.removed = [&] { fresh = create(); };
  ASSERT_TRUE(remove(old));
  pass(kSecond);
  ASSERT_NE(fresh, ClusterId());
  EXPECT_EQ(engine().find(kAccount, kRegion, "demo"), fresh);
  EXPECT_THAT(engine().list(kAccount, kRegion), ElementsAre(fresh));
}

// ---- restart ---------------------------------------------------------------------------------------------------

TEST_F(EngineTest, RestartAdoptsWhatRuns) {
  const ClusterId cluster = create();
  FakeAgent before = controller_up(cluster);
  ASSERT_THAT(launched(), SizeIs(3));
  start("boot-2");
  pass(kSecond);
  EXPECT_THAT(launched(), SizeIs(3));
  EXPECT_THAT(provider_.terminated(), IsEmpty());
  EXPECT_EQ(engine().find(kAccount, kRegion, "demo"), cluster);
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Ready);

  FakeAgent after(process_->hub, slot(cluster, "ctl-1").machine->id.value);
  after.credential = before.credential;
  after.boot = before.boot;
  after.control_plane_boot = before.control_plane_boot;
  after.acknowledged = before.acknowledged;
  EXPECT_THAT(after.take(after.next()), IsEmpty()) << "it hears the new boot at once";
  EXPECT_EQ(after.control_plane_boot, "boot-2");
}

TEST_F(EngineTest, RestartBeforeTheLaunchIsAnsweredLaunchesNothingTwice) {
  const ClusterId cluster = create();
  // Up to the provider's answer, which nobody hears.
  while (launched().empty()) {
    process_->steps.run_all();
    ASSERT_TRUE(process_->provider_calls.run_one());
  }
  start("boot-2");
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Launching);
  settle();
  EXPECT_THAT(launched(), SizeIs(1));
  EXPECT_EQ(slot(cluster, "ctl-1").state, SlotState::Booting);
  EXPECT_EQ(slot(cluster, "ctl-1").token, provider_.launches()[0].user_data.token);
}

TEST_F(EngineTest, RestartBeforeTheLaunchWentOutMakesItWithTheSameKey) {
  const ClusterId cluster = create();
  settle();
  ASSERT_TRUE(update(cluster, scale(3)));
  start("boot-2");
  const ClusterId second = create(example("second"));
  process_->steps.run_all();
  process_->provider_calls.run_all();  // both lists
  process_->steps.run_all();           // the launch is on disk, and not with the provider
  const std::string key = slot(second, "ctl-1").launch_key;
  ASSERT_NE(key, "");
  ASSERT_THAT(launched(), SizeIs(1));
  start("boot-3");
  settle();
  ASSERT_THAT(launched(), SizeIs(2));
  EXPECT_EQ(provider_.launches()[1].key, key);
}

TEST_F(EngineTest, RestartTerminatesWhatIsNobodys) {
  const ClusterId cluster = create();
  settle();
  LaunchRequest stray;
  stray.key = "stray";
  stray.instance_type = kWorkerType;
  stray.cluster = cluster;
  stray.slot = SlotId("nobody");
  const auto machine = provider_.launch(stray);
  ASSERT_TRUE(machine);
  start("boot-2");
  settle();
  EXPECT_THAT(provider_.terminated(), ElementsAre(machine->machine.id));
}

TEST_F(EngineTest, RestartGoesOnWithADeletion) {
  const ClusterId cluster = create();
  settle();
  provider_.fail_next(Call::kTerminate, {ErrorCode::kUnavailable, "no answer"});
  ASSERT_TRUE(remove(cluster));
  start("boot-2");
  pass(10 * kSecond);
  EXPECT_THAT(engine().list(kAccount, kRegion), IsEmpty());
  EXPECT_THAT(provider_.removed_volumes(), ElementsAre(cluster));
}

TEST_F(EngineTest, StartFailsWhenTheStoreDoes) {
  faulty_.plan({.dies = true});
  EXPECT_FALSE(try_create());
  process_.reset();
  process_ = std::make_unique<Process>("boot-2", clock_, store_, provider_);
  EXPECT_FALSE(engine().start());
}

}  // namespace
}  // namespace espalier::engine
