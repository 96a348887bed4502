// MinInstanceCount: a group is in service only once it has so many, and goes back to its former counts when that takes
// too long. Not a lasting floor: what fails later may go below it.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

// A user is about to set it: a minimum that is not met begins a wait, or begins it anew.
void note_minimum(Work& work, Group& group, int minimum);
// The wait under way: is the minimum met, is the time over?
void settle_minimum(Work& work, Group& group, int ready);

}  // namespace espalier::reconcile
