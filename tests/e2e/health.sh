#!/usr/bin/env bash
# A machine that loses a GPU is told of in one event and rebooted after its job; with NodeRecovery=None it is only told.
# Both at once, in two clusters: a fault has to last a minute before anything is done. And a node that Slurm drained of its
# own accord is rebooted too.
# Slurm: both
. "$(dirname "$0")/lib.sh"

lose_gpu() { nsenter -t "$(machine_pid "$1")" -m rm /dev/nvidia7; }
in_told() { cluster=told "$@"; }

start_service
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 3 gpu)"
create_request "$(group tctl Controller ml.c5.xlarge 1)" "$(group t5 Compute ml.p5.48xlarge 1 gpu)" |
  jq '.ClusterName = "told" | .NodeRecovery = "None"' >$stage/files/told.json
aws sagemaker create-cluster --cli-input-json file:///mnt/scenario/told.json
wait_until 60 nodes_in idle 3
wait_until 60 in_told ready_are 2
beside=$(held_job beside "-w p5-2 -p gpu")
on_it=$(held_job on_it "-w p5-1 -p gpu")
wait_until 20 job_is "$on_it" RUNNING
wait_until 20 job_is "$beside" RUNNING

id=$(ready_id p5-1)
pid=$(machine_pid p5-1)
told=$(machine_pid t5-1)
third=$(machine_pid p5-3)
lose_gpu p5-1
lose_gpu t5-1
as_root ctl-1 scontrol update nodename=p5-3 state=drain reason='Kill task failed'  # as slurmd has slurmctld do
wait_until 90 events_say "$id .* is not healthy: it has 7 of 8 GPUs"
wait_until 30 nodes_in draining 1
expect_equal "the job on it" RUNNING "$(job_state "$on_it")"
expect_equal "its machine" "$pid" "$(machine_pid p5-1)"
let_go on_it
wait_until 60 is_another_process p5-1 "$pid"
wait_until 60 is_another_process p5-3 "$third"
wait_until 30 events_say 'is not healthy: slurmctld shows it drained: Kill task failed'
wait_until 60 nodes_in idle 2
expect_equal "the job on it" COMPLETED "$(job_state "$on_it")"
wait_until 30 ready_are 5
expect_equal "its id" "$id" "$(ready_id p5-1)"
expect_equal "its GPUs" 8 "$(on p5-1 'ls /dev/nvidia? | wc -l')"
expect_equal "times that it was told" 1 "$(esp events "$cluster" | grep -c "$id .* is not healthy")"
expect_equal "the job beside it" RUNNING "$(job_state "$beside")"

say "NodeRecovery=None"
wait_until 30 in_told events_say 'is not healthy: it has 7 of 8 GPUs'
expect_equal "its machine" "$told" "$(machine_pid t5-1)"
expect_match "what explain says of it" "7 of 8 GPUs.*NodeRecovery" "$(esp explain told t5-1 | paste -sd' ')"
aws sagemaker update-cluster --cluster-name told --node-recovery Automatic >/dev/null
wait_until 60 is_another_process t5-1 "$told"
wait_until 60 in_told ready_are 2

let_go beside
aws sagemaker delete-cluster --cluster-name told
wait_until 60 in_told is_gone
delete_cluster
stop_service
