#include "slurm/node_state.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier::slurm {
namespace {

// A short form: one letter for each fact that holds; '*' is not responding.
std::string facts(std::string_view state) {
  const auto f = read_state(state);
  std::string out;
  if (f.registered) out += 'R';
  if (f.down) out += 'D';
  if (f.idle) out += 'I';
  if (f.busy) out += 'B';
  if (f.draining) out += 'd';
  if (f.failing) out += 'f';
  if (!f.responding) out += '*';
  return out;
}

TEST(NodeState, ReadsWhatSinfoPrints) {
  EXPECT_EQ(facts("idle"), "RI");
  EXPECT_EQ(facts("idle*"), "RI*");
  EXPECT_EQ(facts("idle~"), "I");
  EXPECT_EQ(facts("idle#"), "I");
  EXPECT_EQ(facts("idle%"), "R");
  EXPECT_EQ(facts("idle!"), "R");
  EXPECT_EQ(facts("idle@"), "R");
  EXPECT_EQ(facts("idle^"), "R");
  EXPECT_EQ(facts("idle-"), "RI");
  EXPECT_EQ(facts("idle$"), "RI");
  EXPECT_EQ(facts("down"), "RD");
  EXPECT_EQ(facts("down*"), "RD*");
  EXPECT_EQ(facts("down~"), "D");
  EXPECT_EQ(facts("allocated"), "RB");
  EXPECT_EQ(facts("allocated+"), "RB");
  EXPECT_EQ(facts("allocated#"), "B");
  EXPECT_EQ(facts("mixed*"), "RB*");
  EXPECT_EQ(facts("mixed-"), "RB");
  EXPECT_EQ(facts("completing"), "RB");
  EXPECT_EQ(facts("draining@"), "RBd");
  EXPECT_EQ(facts("drained*"), "Rd*");
  EXPECT_EQ(facts("drained~"), "d");
  EXPECT_EQ(facts("fail"), "Rf");
  EXPECT_EQ(facts("failing"), "RBf");
  EXPECT_EQ(facts("failg*"), "RBf*");
  EXPECT_EQ(facts("reserved"), "RI");
  EXPECT_EQ(facts("planned"), "RI");
  EXPECT_EQ(facts("blocked"), "R");
  EXPECT_EQ(facts("maint"), "RI");
  EXPECT_EQ(facts("reboot^"), "R");
  EXPECT_EQ(facts("inval"), "RB");
  EXPECT_EQ(facts("future"), "");
  EXPECT_EQ(facts("powered_down"), "");
}

TEST(NodeState, ReadsWhatScontrolPrints) {
  EXPECT_EQ(facts("IDLE+CLOUD"), "RI");
  EXPECT_EQ(facts("IDLE+CLOUD+POWERED_DOWN"), "I");
  EXPECT_EQ(facts("IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING"), "I*");
  EXPECT_EQ(facts("DOWN+CLOUD"), "RD");
  EXPECT_EQ(facts("DOWN+CLOUD+POWERED_DOWN"), "D");
  EXPECT_EQ(facts("DOWN+CLOUD+NOT_RESPONDING"), "RD*");
  EXPECT_EQ(facts("DOWN*+CLOUD"), "RD*");
  EXPECT_EQ(facts("DOWN+CLOUD+DRAIN"), "RDd");
  EXPECT_EQ(facts("ALLOCATED+CLOUD+DRAIN"), "RBd");
  EXPECT_EQ(facts("IDLE+CLOUD+DRAIN"), "Rd");
  EXPECT_EQ(facts("IDLE+CLOUD+COMPLETING"), "RB");
  EXPECT_EQ(facts("IDLE+COMPLETING+DRAIN"), "RBd");
  EXPECT_EQ(facts("MIXED+CLOUD+PLANNED"), "RB");
  EXPECT_EQ(facts("IDLE+CLOUD+REBOOT_ISSUED"), "R");
  EXPECT_EQ(facts("IDLE+CLOUD+DRAIN+INVALID_REG"), "Rd");
  EXPECT_EQ(facts("IDLE+CLOUD+FAIL"), "Rf");
  EXPECT_EQ(facts("IDLE+RESERVED+MAINTENANCE"), "RI");
}

TEST(NodeState, WhatItDoesNotKnowIsBusy) {
  for (const auto* state : {"", "?", "unknown", "UNKNOWN*", "idle+SOMETHING_NEW", "perfctrs", "+", "*"}) {
    EXPECT_TRUE(read_state(state).busy) << state;
    EXPECT_FALSE(read_state(state).idle) << state;
  }
  EXPECT_FALSE(read_state("").registered);
  EXPECT_FALSE(read_state("unknown*").registered);
}

// Every base state under every set of flags: the answer never promises more than its parts.
TEST(NodeState, EveryCombinationHasAnAnswer) {
  const char* const bases[] = {"IDLE", "DOWN", "ALLOCATED", "MIXED", "FUTURE", "UNKNOWN", "ERROR"};
  const char* const flags[] = {"+CLOUD",        "+COMPLETING",    "+DRAIN",       "+FAIL",          "+NOT_RESPONDING",
                               "+POWERED_DOWN", "+POWERING_DOWN", "+POWERING_UP", "+REBOOT_ISSUED", "+INVALID_REG"};
  constexpr unsigned kFlags = 10;
  for (const std::string base : bases) {
    for (unsigned set = 0; set < 1U << kFlags; ++set) {
      std::string state = base;
      for (unsigned i = 0; i < kFlags; ++i)
        if ((set >> i & 1U) != 0) state += flags[i];
      const auto f = read_state(state);
      const auto has = [&](const char* flag) { return state.find(flag) != std::string::npos; };
      EXPECT_FALSE(f.idle && (f.busy || f.down || f.draining || f.failing)) << state;
      EXPECT_EQ(f.busy,
                base == "ALLOCATED" || base == "MIXED" || base == "UNKNOWN" || base == "ERROR" || has("COMPLETING"))
          << state;
      EXPECT_EQ(f.draining, has("DRAIN")) << state;
      EXPECT_EQ(f.failing, has("FAIL")) << state;
      EXPECT_EQ(f.down, base == "DOWN") << state;
      EXPECT_EQ(f.responding, !has("NOT_RESPONDING")) << state;
      EXPECT_FALSE(f.registered && (has("POWERED_DOWN") || has("POWERING_UP"))) << state;
    }
  }
}

}  // namespace
}  // namespace espalier::slurm
