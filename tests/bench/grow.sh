#!/usr/bin/env bash
# From CreateCluster accepted to the end of the first job over all N nodes, beside floor.sh: ESPALIER_NODES=N.
. "$(dirname "$0")/../e2e/lib.sh"
nodes=${ESPALIER_NODES:-8}
since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'; }
has_controller() { machine_pid ctl-1 >/dev/null && on ctl-1 'sinfo -h' >/dev/null; }

start_service >/dev/null
request=$(create_request "$(group ctl Controller ml.c5.xlarge 1)" "$(group p5 Compute ml.p5.48xlarge "$nodes" gpu)")
expect_match "CreateCluster" '^200 ' "$(call SageMaker.CreateCluster "$request")"
start=$EPOCHREALTIME
wait_until 60 has_controller >/dev/null
controller=$(since "$start")
# The job is there from the beginning, as a user's would be: it starts when its last node has come.
on ctl-1 "srun -N$nodes -p gpu hostname" >$stage/job.out
finished=$(since "$start")
expect_equal "nodes that the job ran on" "$nodes" "$(sort -u $stage/job.out | wc -l)"
printf 'espalier %3d nodes: slurmctld %s s, first job over all finished %s s after CreateCluster\n' "$nodes" \
  "$controller" "$finished"
kill_service
