#include "reconcile/repair/decide.h"

#include <gtest/gtest.h>

namespace espalier::reconcile {
namespace {

constexpr Time kNow{Millis(1'800'000'000'000)};
const RepairSettings kSettings;

Patient patient(FaultKind kind, bool dead) { return {{kind, "why", kNow}, true, true, dead, std::nullopt}; }

Repair repaired(RepairKind kind, Millis ago) {
  Repair repair;
  repair.kind = kind;
  repair.at = kNow - ago;
  return repair;
}

TEST(Treat, DeadMachinesAreRebootedAtOnce) {
  for (const FaultKind kind : {FaultKind::Silent, FaultKind::DaemonDead}) {
    const auto treatment = treat(patient(kind, true), kSettings);
    ASSERT_TRUE(treatment);
    EXPECT_EQ(treatment->kind, RepairKind::Reboot);
    EXPECT_TRUE(treatment->at_once);
    EXPECT_EQ(treatment->not_before, kNow + kSettings.grace);
  }
}

TEST(Treat, WhatMayRunJobsIsLeftAlone) {
  EXPECT_FALSE(treat(patient(FaultKind::Silent, false), kSettings));
  EXPECT_FALSE(treat(patient(FaultKind::DaemonDead, false), kSettings));
  for (const FaultKind kind : {FaultKind::DevicesMissing, FaultKind::DiskFull})
    EXPECT_FALSE(treat(patient(kind, false), kSettings)->at_once) << "its jobs end first";
}

TEST(Treat, WithoutAViewOfSlurmNothingIsDone) {
  for (const FaultKind kind :
       {FaultKind::Silent, FaultKind::DaemonDead, FaultKind::DevicesMissing, FaultKind::DiskFull}) {
    Patient blind = patient(kind, true);
    blind.seen = false;
    EXPECT_FALSE(treat(blind, kSettings));
    blind.compute = false;
    EXPECT_TRUE(treat(blind, kSettings)) << "a login machine is not Slurm's to judge";
  }
}

TEST(Treat, AClockIsNotOursToSet) { EXPECT_FALSE(treat(patient(FaultKind::ClockOff, false), kSettings)); }

TEST(Treat, WhatSlurmTookOutOfUseIsRebootedAndAtOnceWhereItIsLost) {
  EXPECT_TRUE(treat(patient(FaultKind::OutOfUse, true), kSettings)->at_once);
  EXPECT_FALSE(treat(patient(FaultKind::OutOfUse, false), kSettings)->at_once) << "drained: jobs may run on it";
  EXPECT_EQ(treat(patient(FaultKind::OutOfUse, false), kSettings)->kind, RepairKind::Reboot);
}

TEST(Treat, AFullDiskIsNotRebooted) {
  EXPECT_EQ(treat(patient(FaultKind::DiskFull, false), kSettings)->kind, RepairKind::Replace);
}

TEST(Treat, WhatARebootDidNotCureIsReplaced) {
  Patient again = patient(FaultKind::DevicesMissing, false);
  again.last = repaired(RepairKind::Reboot, std::chrono::minutes(20));
  EXPECT_EQ(treat(again, kSettings)->kind, RepairKind::Replace);
  again.last = repaired(RepairKind::Reboot, std::chrono::hours(20));
  EXPECT_EQ(treat(again, kSettings)->kind, RepairKind::Reboot) << "that was another trouble";
}

TEST(Treat, ReplacementsDoNotFollowOneAnother) {
  Patient again = patient(FaultKind::DiskFull, false);
  again.last = repaired(RepairKind::Replace, std::chrono::minutes(5));
  EXPECT_EQ(treat(again, kSettings)->not_before, again.last->at + kSettings.again);
}

TEST(Blind, IsWhoHearsLessThanHalf) {
  EXPECT_FALSE(is_blind(1, 1));
  EXPECT_FALSE(is_blind(1, 2));
  EXPECT_TRUE(is_blind(2, 2));
  EXPECT_FALSE(is_blind(50, 100));
  EXPECT_TRUE(is_blind(51, 100));
}

TEST(Budget, IsAPartAndAtLeastOne) {
  EXPECT_EQ(budget(1, kSettings), 1);
  EXPECT_EQ(budget(19, kSettings), 1);
  EXPECT_EQ(budget(1000, kSettings), 100);
}

}  // namespace
}  // namespace espalier::reconcile
