#!/usr/bin/env bash
# UpdateCluster, from the AWS CLI: up, down to nothing, a new group, a group away; the rest is not touched by it.
# Slurm: both
. "$(dirname "$0")/lib.sh"

nodes_are() { [ "$(node_states | cut -d' ' -f1 | paste -sd' ' | tee /dev/stderr)" = "$1" ]; }
has_group() { describe | jq -e --arg name "$1" 'any(.InstanceGroups[]; .InstanceGroupName == $name)' >/dev/null; }
has_no_group() { ! has_group "$1"; }
partition_nodes() { on_login "sinfo -h -N -p $1 -o %N" | sort -uV | paste -sd' '; }

start_service
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 2 gpu)"
wait_until 60 nodes_in idle 2
kept=$(machines | sort)
job=$(submit "-w p5-2 -p gpu --wrap 'sleep 600'")
wait_until 20 job_is "$job" RUNNING

say "up: InService all the while, the machines that were there stay"
update_groups "$(group p5 Compute ml.p5.48xlarge 5 gpu)"
expect_equal "status while it scales" InService "$(describe | jq -r .ClusterStatus)"
wait_until 60 counts_are p5 5/5
wait_until 30 nodes_in idle 4
expect_equal "machines that were there" "$kept" "$(comm -12 <(echo "$kept") <(machines | sort))"

say "several wishes at once"
update_groups "$(group p5 Compute ml.p5.48xlarge 6 gpu)"
update_groups "$(group p5 Compute ml.p5.48xlarge 7 gpu)" "$(group g5 Compute ml.g5.8xlarge 1 small)"
wait_until 60 counts_are p5 7/7
wait_until 60 counts_are g5 1/1
expect_equal "partition of the new group" g5-1 "$(partition_nodes small)"
wait_until 30 topology_is_true

say "down to one: idle nodes go, the busy one stays with its job"
update_groups "$(group p5 Compute ml.p5.48xlarge 1 gpu)"
wait_until 60 nodes_are "g5-1 p5-2"
expect_equal "the job" RUNNING "$(job_state "$job")"
wait_until 30 topology_is_true

say "down to nothing waits for the job, then the empty group is kept"
update_groups "$(group p5 Compute ml.p5.48xlarge 0 gpu)"
wait_until 20 nodes_in draining 1
expect_equal "the job" RUNNING "$(job_state "$job")"
on_login "scancel $job"
wait_until 60 nodes_are g5-1
wait_until 20 counts_are p5 0/0

say "a group away"
aws sagemaker update-cluster --cluster-name "$cluster" --instance-groups-to-delete g5
wait_until 60 has_no_group g5
has_group p5
update_groups "$(group p5 Compute ml.p5.48xlarge 2 gpu)"
wait_until 60 nodes_in idle 2
wait_until 20 topology_is_true
expect_equal "a job afterwards" 2 "$(on_login 'srun -N2 -p gpu hostname' | wc -l)"

delete_cluster
stop_service
