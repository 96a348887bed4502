#!/usr/bin/env bash
# A machine that dies is replaced: the same slot, the same Slurm name, and a true topology.
# Slurm: both
. "$(dirname "$0")/lib.sh"

node_json() { esp nodes "$cluster" --json | jq -c --arg name "$1" '.Nodes[] | select(.NodeName == $name)'; }

start_service
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 4 gpu)"
wait_until 60 nodes_in idle 4
job=$(submit "-J survivor -w p5-1 -p gpu --wrap 'sleep 600'")
wait_until 20 job_is "$job" RUNNING

before=$(node_json p5-3)
others=$(node_json p5-1; node_json p5-2; node_json p5-4)
say "the machine of p5-3 dies"
kill -KILL "$(machine_pid p5-3)"
wait_until 60 is_replaced p5-3 "$(jq -r .InstanceId <<<"$before")"
wait_until 30 nodes_in idle 3
after=$(node_json p5-3)
expect_equal "the slot" "$(jq -r .NodeLogicalId <<<"$before")" "$(jq -r .NodeLogicalId <<<"$after")"
expect_equal "the other machines" "$(jq -r .InstanceId <<<"$others")" \
  "$(for node in p5-1 p5-2 p5-4; do node_json $node; done | jq -r .InstanceId)"
wait_until 20 topology_is_true
expect_equal "the job beside it" RUNNING "$(job_state "$job")"
expect_equal "a job on the new machine" p5-3 "$(on_login 'srun -w p5-3 -p gpu hostname')"

on_login "scancel $job"
slurmctld_log_is_clean

delete_cluster
stop_service
