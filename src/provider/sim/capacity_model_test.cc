#include "provider/sim/capacity_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace espalier::sim {
namespace {

constexpr const char* kP5 = "ml.p5.48xlarge";

class CapacityModelTest : public testing::Test {
 protected:
  ~CapacityModelTest() override { std::filesystem::remove(kept_); }
  std::unique_ptr<CapacityModel> open(std::map<std::string, Pool> start = {}) {
    auto model = CapacityModel::open(kept_, std::move(start));
    EXPECT_TRUE(model) << model.error().message;
    return std::move(*model);
  }
  static Pool pool_of(int machines) {
    Pool pool;
    pool.machines = machines;
    return pool;
  }

  const std::filesystem::path kept_ = testing::TempDir() + "capacity-" + std::to_string(getpid()) + ".json";
};

TEST_F(CapacityModelTest, HasNoBoundsByDefault) {
  const auto model = open();
  Random random(1);
  EXPECT_FALSE(model->shortage(kP5, 1'000'000));
  EXPECT_FALSE(model->fault(kP5, random));
  EXPECT_EQ(model->pools().size(), 1U);  // "default"
}

TEST_F(CapacityModelTest, SaysShortageInTheCloudsWords) {
  const auto model = open({{kP5, pool_of(6)}});
  EXPECT_FALSE(model->shortage(kP5, 5));
  const auto shortage = model->shortage(kP5, 6);
  ASSERT_TRUE(shortage);
  EXPECT_EQ(shortage->kind, FailureClass::Shortage);
  EXPECT_EQ(shortage->message,
            "We currently do not have sufficient capacity to launch new ml.p5.48xlarge instances. Please try again.");
}

TEST_F(CapacityModelTest, WhatIsSetIsToldAndKept) {
  int changes = 0;
  {
    const auto model = open({{kP5, pool_of(6)}, {"default", pool_of(2)}});
    model->on_change([&] { ++changes; });
    ASSERT_TRUE(model->set(kP5, pool_of(8)));
    EXPECT_FALSE(model->shortage(kP5, 7));
  }
  EXPECT_EQ(changes, 1);
  const auto again = open({{kP5, pool_of(6)}, {"default", pool_of(2)}});
  EXPECT_EQ(again->pool(kP5).machines, 8);
  EXPECT_EQ(again->pool("ml.c5.4xlarge").machines, 2);
}

TEST_F(CapacityModelTest, FailsAsOftenAsAsked) {
  Pool half = pool_of(100);
  half.failure_rate = 0.5;
  half.failure_class = "Bootstrap";
  const auto model = open({{kP5, half}});
  Random random(7);
  int failed = 0;
  for (int i = 0; i < 1000; ++i)
    if (const auto fault = model->fault(kP5, random)) {
      EXPECT_EQ(fault->kind, FailureClass::Bootstrap);
      ++failed;
    }
  EXPECT_NEAR(failed, 500, 60);
}

TEST_F(CapacityModelTest, RefusesImpossibleNumbersAndChangesNothing) {
  const auto model = open();
  int changes = 0;
  model->on_change([&] { ++changes; });
  Pool slow, often, strange;
  slow.launch_time = std::chrono::hours(2);
  often.failure_rate = 1.5;
  strange.failure_class = "Sunspots";
  EXPECT_FALSE(model->set("ml.p5.24xlarge.x", {}));
  for (const Pool& pool : {pool_of(-1), slow, often, strange}) {
    const auto set = model->set(kP5, pool);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, ErrorCode::kInvalid);
    EXPECT_NE(set.error().message.find(kP5), std::string::npos);
  }
  EXPECT_EQ(changes, 0);
  EXPECT_FALSE(std::filesystem::exists(kept_));
}

TEST_F(CapacityModelTest, RefusesAKeptFileThatIsBroken) {
  ASSERT_TRUE(write_file(kept_, "{"));
  const auto model = CapacityModel::open(kept_, {});
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find(kept_.string()), std::string::npos);
}

TEST(PoolsFromYaml, ReadsEveryMember) {
  const auto pools = pools_from_yaml(
      "default: {machines: 8}\n"
      "ml.p5.48xlarge: {machines: 0, launch_time_ms: 1500, failure_rate: 0.25, failure_class: Quota}\n"
      "ml.c5.4xlarge: {launch_time_ms: 20}\n");
  ASSERT_TRUE(pools) << pools.error().message;
  EXPECT_EQ(pools->at("default").machines, 8);
  EXPECT_EQ(pools->at(kP5).machines, 0);
  EXPECT_EQ(pools->at(kP5).launch_time, Millis(1500));
  EXPECT_EQ(pools->at(kP5).failure_rate, 0.25);
  EXPECT_EQ(pools->at(kP5).failure_class, "Quota");
  EXPECT_FALSE(pools->at("ml.c5.4xlarge").machines);
}

TEST(PoolsFromYaml, NamesTheTypeThatIsWrong) {
  for (const char* text : {"ml.p5.48xlarge: 6", "ml.p5.48xlarge: {machine: 6}", "ml.p5.48xlarge: {machines: six}",
                           "ml.p5.48xlarge: {machines: -6}"}) {
    const auto pools = pools_from_yaml(text);
    ASSERT_FALSE(pools) << text;
    EXPECT_NE(pools.error().message.find(kP5), std::string::npos) << pools.error().message;
  }
}

}  // namespace
}  // namespace espalier::sim
