#include "reconcile/index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace espalier::reconcile {
namespace {

Slot changed(int number) {
  Slot slot;
  slot.id = SlotId(std::to_string(number));
  slot.group = number % 2 == 0 ? "even" : "odd";
  slot.number = number;
  slot.node_name = slot.group + "-" + std::to_string(number);
  slot.state = static_cast<SlotState>(*rc::gen::inRange(0, static_cast<int>(kSlotStates)));
  slot.wanted = *rc::gen::arbitrary<bool>();
  slot.instance_type = *rc::gen::element<std::string>("ml.p5.48xlarge", "ml.p5e.48xlarge");
  if (*rc::gen::arbitrary<bool>()) {
    slot.machine.emplace();
    slot.machine->id = MachineId("i-" + std::to_string(number));
    slot.machine->image = *rc::gen::element<std::string>("", "one", "two");
    slot.machine->launched_at = Time(Millis(*rc::gen::inRange(0, 5)));
  }
  return slot;
}

void expect_same(const Index& index, const Index& fresh) {
  RC_ASSERT(index.count() == fresh.count());
  RC_ASSERT(index.by_creation() == fresh.by_creation());
  RC_ASSERT(index.launched() == fresh.launched());
  for (std::size_t state = 0; state < kSlotStates; ++state)
    RC_ASSERT(index.in_state(static_cast<SlotState>(state)) == fresh.in_state(static_cast<SlotState>(state)));
  for (const char* name : {"even", "odd"}) {
    const auto &group = index.group(name), &expected = fresh.group(name);
    RC_ASSERT(group.by_number == expected.by_number);
    RC_ASSERT(group.launched == expected.launched);
    RC_ASSERT(group.waiting == expected.waiting);
    RC_ASSERT(group.all == expected.all);
    RC_ASSERT(group.wanted == expected.wanted);
    RC_ASSERT(group.up == expected.up);
    RC_ASSERT(group.up_types == expected.up_types);
    RC_ASSERT(group.up_images == expected.up_images);
  }
}

RC_GTEST_PROP(Index, KeptWithEveryChangeItIsAsIfItWereBuiltAnew, ()) {
  ClusterState state;
  Index index;
  index.build(state);
  for (int changes = *rc::gen::inRange(1, 40); changes > 0; --changes) {
    const int number = *rc::gen::inRange(1, 7);
    const SlotId id(std::to_string(number));
    if (*rc::gen::inRange(0, 4) == 0) {
      index.drop(id);
      state.slots.erase(id);
    } else {
      index.put(state.slots[id] = changed(number));
    }
  }
  Index fresh;
  fresh.build(state);
  expect_same(index, fresh);
}

}  // namespace
}  // namespace espalier::reconcile
