#!/usr/bin/env bash
# Does the simulation bite? Puts known faults into the product, one at a time, and shows that a life finds each.
#
#   sim/mutants.sh [LIVES [NAME…]]    LIVES: at most so many for each (2000)
#
# A seed is the number of lives that were lived until one was found. Works on a copy of the tree in build/mutants; what
# is here stays as it is. A mutant is a line of the table below:
# name@file@sed expression@what it breaks. One that changes nothing is an error: the code has moved on.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

lives=${1:-2000}
names=("${@:2}")
tree=$PWD/build/mutants
build=$tree/build/release

mutants() {
  cat <<'END'
jobs-are-killed@src/reconcile/slurm/nodes.cc@s/return !facts.busy && (facts.draining/return (facts.draining/@a drained node is taken although a job still runs on it
absent-once-is-gone@src/reconcile/slot/slot.cc@s/if (missing.lists >= kEnough)/if (missing.lists >= kEnough || true)/@a machine that one list lacks counts as lost
admins-are-overruled@src/reconcile/slurm/nodes.cc@s/return view.reason.empty() ||/return true || view.reason.empty() ||/@what an admin drained or downed is lifted
strangers-stay@src/reconcile/slot/slot.cc@s|if (work.observed.terminating.insert(machine).second) work.effect(Terminate{machine});|{}|@a machine of the cluster that no slot has is left running
failed-end-is-an-end@src/reconcile/slot/slot.cc@s/^  if (!done.result) {/  if (false) {/@a termination that failed counts as done
key-anew@src/reconcile/slot/slot.cc@s/if (slot.launch_key.empty() || other) {/if (other || true) {/@every try to launch has a key of its own
effect-before-intent@src/engine/engine.cc@s/^  if (commit(actor)) {/  if (commit(actor) || true) {/@effects go out although the store did not take their intent
lost-answer-stops-a-cluster@src/engine/engine.cc@s/if (!revision && actor->decided->tried &&/if (false \&\& actor->decided->tried \&\&/@a commit whose answer was lost is tried again for ever
all-at-once@src/reconcile/group/group.cc@s/const bool turn = group.type/const bool turn = true || group.type/@workers are launched before the controller is up
unplaced-is-missing@src/reconcile/slurm/wanted.cc@s/^    out.request.members.push_back(/    if (position_of(slot)) out.request.members.push_back(/@a slot without a position is in no topology
launch-for-nobody@src/reconcile/slot/slot.cc@s/bool begin(Work& work, Slot& slot) { return !slot.wanted/bool begin(Work\& work, Slot\& slot) { return false/@a slot that nobody wants any more is launched
END
}

copy_tree() {  # what differs only, so that little is built anew
  local file
  mkdir -p "$tree"
  git ls-files -co --exclude-standard | while read -r file; do
    cmp -s "$file" "$tree/$file" || install -D "$file" "$tree/$file"
  done
  [ -f "$build/build.ninja" ] || (cd "$tree" && cmake --preset release >"$tree/configure.log")
}
# With the paths of a build of this tree, so that ccache has most of it.
make_it() { CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1 ninja -C "$build" sim_run >"$tree/build.log" || { tail -20 "$tree/build.log"; exit 1; }; }

copy_tree
make_it
cp "$build/sim_run" "$tree/sim_run.whole"

# The first life that goes wrong, and goes well without the mutant: "seed 17: what did not hold".
first_failure() {
  local seed=0 said
  until said=$("$build/sim_run" --seeds "$((seed + 1))-$lives"); do
    said=$(sed -nE '/^seed [0-9]+: /{p;q}' <<<"$said")
    seed=$(sed -E 's/^seed ([0-9]+): .*/\1/' <<<"$said")
    if "$tree/sim_run.whole" --seed "$seed" >"$tree/whole.log"; then
      printf '%s\n' "$said"
      return 0
    fi
  done
  return 1
}

missed=0
while IFS=@ read -r name file expression what; do
  [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $name "* ]] || continue
  cp "$tree/$file" "$tree/whole"
  sed -i "$expression" "$tree/$file"
  ! cmp -s "$tree/whole" "$tree/$file" || { echo "$name: its sed expression changes nothing in $file"; exit 1; }
  make_it
  begin=$SECONDS
  if said=$(first_failure); then
    printf 'found  %-28s %s\n       %s (%s s)\n' "$name" "$what" "$said" "$((SECONDS - begin))"
  else
    printf 'MISSED %-28s %s\n       %s lives (%s s)\n' "$name" "$what" "$lives" "$((SECONDS - begin))"
    missed=1
  fi
  cp "$tree/whole" "$tree/$file"  # not from here, where the work goes on
done < <(mutants)
exit "$missed"
