#!/usr/bin/env bash
# Does the simulation bite? Puts known faults into the product, one at a time, and shows that a life finds each.
#
#   sim/mutants.sh [LIVES [NAME…]]    LIVES: at most so many for each (600)
#
# Works on a copy of the tree in build/mutants; what is here stays as it is. A mutant is a line of the table below:
# name@file@sed expression@what it breaks. One that changes nothing is an error: the code has moved on.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

lives=${1:-600}
names=("${@:2}")
tree=$PWD/build/mutants/tree
build=$PWD/build/mutants/release

mutants() {
  cat <<'END'
jobs-are-killed@src/reconcile/slurm/nodes.cc@s/return !facts.busy && (facts.draining/return (facts.draining/@a drained node is taken although a job still runs on it
absent-once-is-gone@src/reconcile/slot/slot.cc@s/if (work.observed.list_asked >= sure)/if (true)/@a machine that one list lacks counts as lost
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
  mkdir -p "$tree" "$build"
  git ls-files -co --exclude-standard | while read -r file; do
    cmp -s "$file" "$tree/$file" || install -D "$file" "$tree/$file"
  done
  [ -f "$build/build.ninja" ] || cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$build/configure.log"
}
make_it() { CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1 ninja -C "$build" sim_run >"$build/build.log" || { tail -20 "$build/build.log"; exit 1; }; }

copy_tree
make_it
# The first thing that goes wrong in lives that go well without a mutant.
fails_anyway=" "
first_failure() {
  { "$build/sim_run" --seeds "1-$lives" --go-on || true; } | while read -r word seed rest; do
    case "$word $rest" in "seed fails with"*) continue ;; "seed "*) ;; *) continue ;; esac
    [[ "$fails_anyway" == *" $seed "* ]] || printf 'seed %s %s\n' "$seed" "$rest"
  done | sed -n 1p
}
fails_anyway=" $({ "$build/sim_run" --seeds "1-$lives" --go-on || true; } | sed -nE 's/^seed ([0-9]+): .*/\1:/p' | tr '\n' ' ')"
missed=0
while IFS=@ read -r name file expression what; do
  [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $name "* ]] || continue
  cp "$tree/$file" "$tree/whole"
  sed -i "$expression" "$tree/$file"
  ! cmp -s "$tree/whole" "$tree/$file" || { echo "$name: its sed expression changes nothing in $file"; exit 1; }
  make_it
  said=$(first_failure)
  if [ -z "$said" ]; then
    printf 'MISSED %-28s %s\n' "$name" "$what"
    missed=1
  else
    printf 'found  %-28s %s\n       %s\n' "$name" "$what" "$said"
  fi
  cp "$tree/whole" "$tree/$file"  # not from here, where the work goes on
done < <(mutants)
exit "$missed"
