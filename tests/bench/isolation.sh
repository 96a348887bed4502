#!/usr/bin/env bash
# Does a group without machines delay another? Time from CreateCluster to four idle nodes of group `free`: alone, beside
# a group whose pool has nothing, and beside one whose launches hang; interleaved, ESPALIER_PAIRS times (10).
. "$(dirname "$0")/../e2e/lib.sh"

pairs=${ESPALIER_PAIRS:-10}
free_is_up() { [ "$(esp nodes "$cluster" --json | jq '[.Nodes[] | select(.InstanceGroupName == "free" and .State == "Ready")] | length')" = 4 ]; }
# one NAME GROUP…: milliseconds, appended to $stage/NAME.
one() {
  local name=$1 begin
  shift
  begin=$(date +%s%N)
  create_cluster "$(head_groups)" "$(group free Compute ml.c5.4xlarge 4 cpu)" "$@" >/dev/null
  until free_is_up; do :; done
  echo $((($(date +%s%N) - begin) / 1000000)) >>"$stage/$name"
  aws sagemaker delete-cluster --cluster-name "$cluster" >/dev/null
  # Launches that hang are let go, so that the cluster can end.
  esp capacity set ml.p5e.48xlarge --launch-time 0s >/dev/null
  wait_until 90 is_gone >/dev/null
  esp capacity set ml.p5e.48xlarge --launch-time 1h >/dev/null
}
# summary NAME: median, least and most.
summary() {
  sort -n "$stage/$1" | awk -v name="$1" '{ t[NR] = $1 } END {
    m = NR % 2 ? t[(NR + 1) / 2] : (t[NR / 2] + t[NR / 2 + 1]) / 2
    printf "%-22s median %.2f s (%.2f to %.2f, n=%d)\n", name, m / 1000, t[1] / 1000, t[NR] / 1000, NR }'
}

start_service >/dev/null
esp capacity set ml.p5.48xlarge=0 >/dev/null
esp capacity set ml.p5e.48xlarge --launch-time 1h >/dev/null
for ((i = 0; i < pairs; i++)); do
  one alone
  one beside_no_capacity "$(group short Compute ml.p5.48xlarge 8 gpu)"
  one beside_hanging_calls "$(group hangs Compute ml.p5e.48xlarge 8 gpu)"
done
for name in alone beside_no_capacity beside_hanging_calls; do summary $name; done
kill_service
