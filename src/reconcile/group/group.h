// A group: as many slots as are wished for, and what its status is.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

// Adds slots with the lowest free numbers.
std::vector<SlotId> add_slots(Work& work, const Group& group, int count);
// Adds slots or marks those that hurt least as not wanted any more.
void match_target(Work& work, Group& group);
// This step launches machines. What it launches must stay wanted up to its end: who takes targets back waits for the
// next one.
bool launches_now(const Work& work);
// Status, scaling flag and their events; drops a group that is deleted and empty.
void settle_group(Work& work, Group& group);

// ---- how it gets its machines
// How many it would launch now if its pools gave them. Controllers first; a group whose machines fail tries one alone.
int demand_of(Work& work, const Group& group);
// Tells the pools when that changed.
void ask_pools(Work& work, const Group& group);
// A launch or a machine of it failed. True when that is news, and not one more case of what is known.
bool note_trouble(Work& work, Group& group, FailureClass kind, const std::string& why);
// A machine came up and was lost before it was Ready.
void note_boot_failure(Work& work, Group& group);
// What its machines failed by may have been mended: one is tried at once.
void note_mended(Work& work, Group& group);
// The provider gave a machine; a machine became Ready.
void note_launched(Work& work, Group& group);
void note_ready(Work& work, Group& group);

// Makes or changes a group as wished.
Group make_group(const GroupWish& wish, const Context& context);
void change_group(Work& work, const GroupWish& wish);

}  // namespace espalier::reconcile
