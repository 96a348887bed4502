#include "slurm/node_state.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace espalier::slurm {
namespace {

// What one word of a state says.
enum Fact : unsigned {
  kNothing = 0,  // that a decision needs
  kIdle = 1U << 0,
  kBusy = 1U << 1,
  kDown = 1U << 2,
  kDrain = 1U << 3,
  kFail = 1U << 4,
  kAbsent = 1U << 5,  // no slurmd has registered since it was powered down
  kSilent = 1U << 6,
  kClosed = 1U << 7,   // no job will start
  kUnknown = 1U << 8,  // a word that we do not know: may have jobs
};

struct Word {
  std::string_view text;
  unsigned facts;
};

// Base states, and flags as `scontrol show node` spells them. What is not here (UNKNOWN too) is busy.
constexpr std::array kWords = {
    Word{"IDLE", kIdle},
    Word{"RESERVED", kIdle},  // of sinfo: idle, in a reservation
    Word{"RES", kIdle},
    Word{"MAINT", kIdle},
    Word{"PLANNED", kIdle},  // idle, kept for a large job by the backfill scheduler
    Word{"PLND", kIdle},
    Word{"BLOCKED", kIdle | kClosed},  // idle, in a block that a job with --exclusive=topo has
    Word{"BLOCK", kIdle | kClosed},
    Word{"DOWN", kDown},
    Word{"ALLOCATED", kBusy},
    Word{"ALLOC", kBusy},
    Word{"MIXED", kBusy},
    Word{"MIX", kBusy},
    Word{"COMPLETING", kBusy},
    Word{"COMP", kBusy},
    Word{"DRAINED", kDrain},
    Word{"DRAINING", kDrain | kBusy},
    Word{"DRAIN", kDrain},
    Word{"POWER_DRAIN", kDrain},
    Word{"FAIL", kFail},
    Word{"FAILING", kFail | kBusy},
    Word{"FAILG", kFail | kBusy},
    Word{"FUTURE", kAbsent | kClosed},
    Word{"POWERED_DOWN", kAbsent},
    Word{"POWERING_UP", kAbsent},
    Word{"POWER_UP", kAbsent},
    Word{"POWER_DOWN", kClosed},
    Word{"POWERING_DOWN", kClosed},
    Word{"NOT_RESPONDING", kSilent},
    Word{"NO_RESPOND", kSilent},
    Word{"REBOOT", kIdle | kClosed},
    Word{"INVAL", kBusy},  // of sinfo: registered with less than its line says; hides whether it has jobs
    Word{"INVALID_REG", kClosed},
    Word{"REBOOT_ISSUED", kClosed},
    Word{"REBOOT_REQUESTED", kClosed},
    Word{"MAINTENANCE", kNothing},
    Word{"CLOUD", kNothing},
    Word{"DYNAMIC_NORM", kNothing},
    Word{"DYNAMIC_FUTURE", kNothing},
};

// The marks that sinfo puts after a state.
constexpr std::string_view kMarks = "*~#%!@^$-";

unsigned facts_of_mark(char mark) {
  switch (mark) {
    case '*':
      return kSilent;
    case '~':  // powered down
    case '#':
      return kAbsent;  // powering up
    case '%':          // powering down
    case '!':          // to be powered down
    case '@':          // to be rebooted
    case '^':
      return kClosed;  // rebooting
    default:
      return kNothing;  // '$' in a maintenance reservation, '-' planned
  }
}

unsigned facts_of_word(std::string_view word) {
  unsigned facts = 0;
  while (!word.empty() && kMarks.find(word.back()) != std::string_view::npos) {
    facts |= facts_of_mark(word.back());
    word.remove_suffix(1);
  }
  if (word.empty()) return facts | kUnknown;
  std::string upper(word);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto* found = std::ranges::find(kWords, upper, &Word::text);
  return facts | (found == kWords.end() ? kUnknown : found->facts);
}

}  // namespace

NodeFacts read_state(std::string_view state) {
  unsigned facts = 0;
  while (true) {
    const auto plus = std::min(state.find('+'), state.size());
    facts |= facts_of_word(state.substr(0, plus));
    if (plus == state.size()) break;
    state.remove_prefix(plus + 1);
  }
  const auto has = [facts](unsigned wanted) { return (facts & wanted) != 0; };
  NodeFacts out;
  out.down = has(kDown);
  out.busy = has(kBusy | kUnknown);
  out.draining = has(kDrain);
  out.failing = has(kFail);
  out.responding = !has(kSilent);
  out.registered = has(kIdle | kBusy | kDown | kDrain | kFail) && !has(kAbsent);
  out.idle = has(kIdle) && !has(kBusy | kUnknown | kDown | kDrain | kFail | kClosed);
  return out;
}

}  // namespace espalier::slurm
