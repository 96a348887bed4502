#!/usr/bin/env bash
# Neighbouring ranks cross leaves as seldom as can be: a job on L leaves does so L - 1 times, whatever its nodes are
# called, whenever they came, and however it is asked for.
# Slurm: both
. "$(dirname "$0")/lib.sh"

scattered_fabric ml.p5.48xlarge 24 4 >$stage/fabric.yaml
start_service --fabric $stage/fabric.yaml
esp capacity set ml.p5.48xlarge=8
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 24 gpu)" "$(group c5 Compute ml.c5.4xlarge 2 cpu)"
wait_until 90 nodes_in idle 10

# check WHAT HOST,…: how often neighbours hang on different leaves, and on how many leaves all hang.
check() {
  local crossed leaves
  read -r crossed leaves <<<"$(tr , '\n' <<<"$2" | awk -F, 'NR == FNR { leaf[$1] = $2; next } { here = leaf[$1]
    leaves += !seen[here]++; crossed += FNR > 1 && here != last; last = here } END { print crossed + 0, leaves }' \
    <(truth) -)"
  say "$1: $crossed crossings on $leaves leaves"
  [ "$crossed" -lt "$leaves" ] || fail "ranks of $1 cross $crossed times on $leaves leaves" "$2"
}

# It starts by itself as soon as its last node is there: not a moment earlier than its ranks are right.
job=$(submit "-N24 -p gpu -o waited --wrap 'srun -l hostname'")
esp capacity set ml.p5.48xlarge=24
wait_until 90 job_is "$job" COMPLETED
check "a job that waited for its nodes" "$(on_login 'sort -n waited' | awk '{ print $2 }' | paste -sd,)"

for size in 2 5 8 13 20; do
  for options in "-p gpu" "--gpus-per-node=8" "-p gpu -m cyclic"; do
    check "-N$size $options" "$(ranks "-N$size $options")"
  done
done

say "--switches=1 waits until one leaf has all"
mapfile -t firsts < <(truth | sort -t, -u -k2,2 | cut -d, -f1)
holder=$(held_job holder "-p gpu --exclusive -N${#firsts[@]} -w $(IFS=, && echo "${firsts[*]}")")
wait_until 20 job_is "$holder" RUNNING
one=$(submit "-N4 -p gpu --switches=1 -o one --wrap 'srun -l hostname'")
check "-N4 on what is left" "$(ranks "-N4 -p gpu")"
expect_equal "-N4 --switches=1 while no leaf has four" PENDING "$(job_state "$one")"
let_go holder
wait_until 30 job_is "$one" COMPLETED
expect_equal "leaves of -N4 --switches=1" 1 \
  "$(on_login 'sort -n one' | awk '{ print $2 }' | sort | join -t, - <(truth | sort) | cut -d, -f2 | sort -u | wc -l)"

delete_cluster
stop_service
