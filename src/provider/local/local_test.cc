// The local cloud for real, in a network namespace of the test's own. Needs root, ESPALIER_NODE_IMAGE
// (images/node-image.sh) and espalier-agent beside this program (or in ESPALIER_AGENT).
#include "provider/local/local.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <thread>

#include "base/file.h"
#include "machine/build.h"
#include "machine/netlink.h"

namespace espalier::local {
namespace {

namespace fs = std::filesystem;
constexpr const char* kP5 = "ml.p5.48xlarge";

class LocalTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* image = std::getenv("ESPALIER_NODE_IMAGE");
    if (image == nullptr) GTEST_SKIP() << "SKIPPED: ESPALIER_NODE_IMAGE names no node image";
    const char* agent = std::getenv("ESPALIER_AGENT");
    settings_.image = image;
    settings_.agent =
        agent != nullptr ? fs::path(agent) : fs::read_symlink("/proc/self/exe").parent_path() / "espalier-agent";
    if (!fs::exists(settings_.agent)) GTEST_SKIP() << "SKIPPED: there is no " << settings_.agent << ": build it";
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "SKIPPED: machines need root";
    settings_.state = testing::TempDir() + "local-" + std::to_string(getpid());
    open();
  }
  void TearDown() override {
    if (provider_) {
      const auto left = provider_->list({});
      for (const auto& machine : *left) EXPECT_TRUE(provider_->terminate(machine.machine.id));
      for (const char* cluster : {"c1", "c2"}) EXPECT_TRUE(provider_->remove_volumes(ClusterId(cluster)));
      provider_.reset();
      EXPECT_FALSE(machine::Netlink::open()->find(settings_.bridge)) << "the bridge is left";
    }
    fs::remove_all(settings_.state);
  }
  // As after a crash: a provider that knows nothing but the folders.
  void open() {
    provider_.reset();
    auto opened = LocalProvider::open(settings_);
    ASSERT_TRUE(opened) << opened.error().message;
    provider_ = std::move(*opened);
  }

  static LaunchRequest request(const std::string& key, const std::string& type = kP5) {
    LaunchRequest out;
    out.key = key;
    out.instance_type = type;
    out.host_name = key;
    out.cluster = ClusterId("c1");
    out.group = "g";
    out.slot = SlotId("slot-" + key);
    out.user_data = {"http://10.77.0.1:1", "", "token"};
    return out;
  }
  ProvidedMachine launch(const LaunchRequest& wish) {
    auto outcome = provider_->launch(wish);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : ProvidedMachine{};
  }
  int pid1(const ProvidedMachine& machine) {
    const auto state = machine::state(provider_->machine_folder(machine.machine.id));
    return state.pid1 ? state.pid1->pid : 0;
  }

  LocalSettings settings_;
  std::unique_ptr<LocalProvider> provider_;
};

TEST_F(LocalTest, AKeyMakesOneMachine) {
  const auto first = launch(request("a"));
  const auto again = launch(request("a"));
  EXPECT_EQ(first.machine.id, again.machine.id);
  EXPECT_TRUE(again.running);
  EXPECT_EQ(first.machine.position.network_nodes.size(), 3U);
  const auto other = launch(request("b"));
  EXPECT_NE(other.machine.address, first.machine.address);
  EXPECT_EQ(provider_->list(ClusterId("c1"))->size(), 2U);
  EXPECT_EQ(provider_->list(ClusterId("c2"))->size(), 0U);
}

TEST_F(LocalTest, TheSameKeyFromManyThreadsMakesOneMachine) {
  std::vector<std::future<ProvidedMachine>> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(std::async(std::launch::async, [&] { return launch(request("a")); }));
  std::set<MachineId> ids;
  for (auto& call : calls) ids.insert(call.get().machine.id);
  EXPECT_EQ(ids.size(), 1U);
}

TEST_F(LocalTest, MachinesOutliveTheProviderAndAreTakenOver) {
  const auto before = launch(request("a"));
  const int pid = pid1(before);
  open();
  const auto after = provider_->list({});
  ASSERT_EQ(after->size(), 1U);
  EXPECT_EQ(after->front().machine.id, before.machine.id);
  EXPECT_EQ(after->front().machine.position, before.machine.position);
  EXPECT_EQ(after->front().slot, SlotId("slot-a"));
  EXPECT_TRUE(after->front().running);
  EXPECT_EQ(pid1(launch(request("a"))), pid);
}

TEST_F(LocalTest, ADeathIsToldOfAdoptedMachinesToo) {
  const auto machine = launch(request("a"));
  open();
  std::promise<ProvidedMachine> told;
  provider_->on_exit([&](const ProvidedMachine& dead) { told.set_value(dead); });
  kill(pid1(machine), SIGKILL);
  const auto dead = told.get_future().get();
  EXPECT_EQ(dead.machine.id, machine.machine.id);
  EXPECT_FALSE(dead.running);
  EXPECT_FALSE(provider_->list({})->front().running);
  EXPECT_FALSE(launch(request("a")).running) << "its key is used up";
}

TEST_F(LocalTest, TerminateLeavesNothingAndTouchesNoOther) {
  const auto doomed = launch(request("a"));
  const auto other = launch(request("b"));
  provider_->on_exit([](const ProvidedMachine&) { ADD_FAILURE() << "a wished end was told as a death"; });
  const int pid = pid1(doomed);
  const auto spec = machine::load_spec(provider_->machine_folder(doomed.machine.id));
  ASSERT_TRUE(provider_->terminate(doomed.machine.id));
  EXPECT_FALSE(machine::record_of(pid));
  EXPECT_FALSE(fs::exists(provider_->machine_folder(doomed.machine.id)));
  EXPECT_FALSE(machine::Netlink::open()->find(spec->link));
  EXPECT_TRUE(provider_->terminate(doomed.machine.id)) << "gone before is a success";
  EXPECT_TRUE(provider_->list({})->front().running);
  EXPECT_EQ(provider_->list({})->front().machine.id, other.machine.id);
  EXPECT_NE(launch(request("c")).machine.address, doomed.machine.address) << "the address got no rest";
}

TEST_F(LocalTest, ARebootKeepsIdAddressAndDisk) {
  const auto before = launch(request("a"));
  const MachineId id = before.machine.id;
  const int pid = pid1(before);
  const auto disk = provider_->machine_folder(id) / "upper";
  ASSERT_TRUE(write_file(disk / "etc/mine", "mine"));
  provider_->on_exit([](const ProvidedMachine&) { ADD_FAILURE() << "a reboot was told as a death"; });
  const auto rebooted = provider_->reboot(id);
  ASSERT_TRUE(rebooted) << rebooted.error().message;
  EXPECT_FALSE(machine::record_of(pid));
  EXPECT_EQ(read_file(disk / "etc/mine"), "mine");
  const auto after = provider_->list({});
  ASSERT_EQ(after->size(), 1U);
  EXPECT_EQ(after->front().machine.id, id);
  EXPECT_EQ(after->front().machine.address, before.machine.address);
  EXPECT_TRUE(after->front().running);
  EXPECT_EQ(provider_->reboot(MachineId("i-none")).error().code, ErrorCode::kNotFound);
}

TEST_F(LocalTest, AMachineThatRebootedIsStillWatchedAndOneThatEndedIsStarted) {
  const auto machine = launch(request("a"));
  std::promise<void> died;
  provider_->on_exit([&](const ProvidedMachine&) { died.set_value(); });
  ASSERT_TRUE(provider_->reboot(machine.machine.id));
  kill(pid1(machine), SIGKILL);
  died.get_future().get();
  ASSERT_TRUE(provider_->reboot(machine.machine.id));
  EXPECT_TRUE(provider_->list({})->front().running);
}

TEST_F(LocalTest, AMachineThatDoesNotComeBackHasEnded) {
  const auto machine = launch(request("a"));
  std::promise<void> told;
  provider_->on_exit([&](const ProvidedMachine&) { told.set_value(); });
  fs::remove(provider_->machine_folder(machine.machine.id) / machine::kUserDataFile);
  const auto failed = provider_->reboot(machine.machine.id);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("cannot reboot machine " + machine.machine.id.str()), std::string::npos);
  told.get_future().get();
  ASSERT_EQ(provider_->list({})->size(), 1U);
  EXPECT_FALSE(provider_->list({})->front().running);
}

TEST_F(LocalTest, AHalfBuiltMachineIsBuiltAgainUnderItsId) {
  const auto whole = launch(request("a"));
  const auto folder = provider_->machine_folder(whole.machine.id);
  kill(pid1(whole), SIGKILL);
  fs::remove(folder / machine::kPid1File);
  fs::create_directories(settings_.state / "machines/i-0.new");
  fs::create_directories(settings_.state / "machines/i-1.gone/upper");
  open();
  EXPECT_FALSE(fs::exists(settings_.state / "machines/i-0.new"));
  EXPECT_FALSE(fs::exists(settings_.state / "machines/i-1.gone"));
  ASSERT_EQ(provider_->list({})->size(), 1U);
  EXPECT_FALSE(provider_->list({})->front().running);
  const auto again = launch(request("a"));
  EXPECT_EQ(again.machine.id, whole.machine.id);
  EXPECT_EQ(again.machine.address, whole.machine.address);
  EXPECT_TRUE(again.running);
}

TEST_F(LocalTest, AShortageEndsWhenCapacityComes) {
  Pool one;
  one.machines = 1;
  ASSERT_TRUE(provider_->set(kP5, one));
  launch(request("a"));
  const auto refused = provider_->launch(request("b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, FailureClass::Shortage);
  EXPECT_TRUE(provider_->launch(request("c", "ml.c5.4xlarge"))) << "another pool starves with it";
  bool told = false;
  provider_->on_change([&] { told = true; });
  one.machines = 2;
  ASSERT_TRUE(provider_->set(kP5, one));
  EXPECT_TRUE(told);
  EXPECT_TRUE(provider_->launch(request("b"))) << "the key of a failed launch is still good";
  EXPECT_EQ(provider_->show().at(kP5).in_use, 2);
}

TEST_F(LocalTest, AFailedLaunchLeavesNothing) {
  Pool broken;
  broken.failure_rate = 1;
  ASSERT_TRUE(provider_->set(kP5, broken));
  const auto failed = provider_->launch(request("a"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, FailureClass::BadMachine);
  EXPECT_TRUE(provider_->list({})->empty());
  EXPECT_TRUE(fs::is_empty(settings_.state / "machines"));
}

TEST_F(LocalTest, VolumesOutliveMachines) {
  auto wish = request("ctl", "ml.c5.4xlarge");
  wish.role = NodeType::Controller;
  const auto controller = launch(wish);
  const auto volume = settings_.state / "volumes/c1";
  EXPECT_TRUE(fs::exists(volume / "home/ubuntu/.bashrc"));
  ASSERT_TRUE(write_file(volume / "slurm/slurm.conf", "mine"));
  EXPECT_EQ(provider_->remove_volumes(ClusterId("c1")).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(provider_->terminate(controller.machine.id));
  wish.key = "ctl-2";
  wish.address = controller.machine.address;
  EXPECT_EQ(launch(wish).machine.address, controller.machine.address);
  EXPECT_EQ(read_file(volume / "slurm/slurm.conf"), "mine");
}

TEST_F(LocalTest, WhatItCannotOfferIsSaidBefore) {
  EXPECT_TRUE(provider_->offers(kP5));
  EXPECT_TRUE(provider_->offers("ml.p6e-gb200.36xlarge"));
  const auto unknown = provider_->offers("ml.g7.12xlarge");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("size"), std::string::npos);
  EXPECT_FALSE(provider_->offers("ml.nothing"));
}

TEST_F(LocalTest, AMissingImageIsNamedWithWhatToRun) {
  provider_.reset();
  settings_.image = settings_.state / "no-image";
  const auto opened = LocalProvider::open(settings_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("images/node-image.sh " + settings_.image.string()), std::string::npos);
}

}  // namespace
}  // namespace espalier::local
