// What users ask of single nodes: add, delete, replace, reboot.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

// kInvalid: the token was used with other additions. kLimit: a quota. kConflict: the cluster is being deleted.
Result<UserAnswer> on_add_nodes(Work& work, const AddNodes& request);
Result<UserAnswer> on_act_on_nodes(Work& work, const ActOnNodes& request);

// The slot stays and gets another machine; a job on it may end first. False when its state allows none.
bool replace_machine(Work& work, Slot& slot, const std::string& why);

}  // namespace espalier::reconcile
