#!/usr/bin/env bash
# A cluster can be deleted at any time: while it grows, while it is short of machines, under a running job.
. "$(dirname "$0")/lib.sh"

some_machines() { [ "$(machines | wc -l)" -ge "$1" ]; }
neighbour_nodes() { machines | sort | grep ' stay-'; }

start_service
say "while it grows"
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 16 gpu)"
wait_until 30 some_machines 3
delete_cluster

say "before its first machine is there; its name is free again afterwards"
esp capacity set ml.c5.xlarge=0
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 2 gpu)"
status_is Creating
delete_cluster
esp capacity set ml.c5.xlarge=unlimited

say "with a running job, beside another cluster that stays"
cluster=neighbour create_cluster "$(group stay Controller ml.c5.xlarge 1)" "$(group stay-cpu Compute ml.c5.4xlarge 1 cpu)"
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 2 gpu)"
wait_until 60 nodes_in idle 2
cluster=neighbour wait_until 60 counts_are stay-cpu 1/1
neighbours=$(neighbour_nodes)
job=$(submit "-N2 -p gpu --wrap 'sleep 600'")
wait_until 20 job_is "$job" RUNNING
aws sagemaker delete-cluster --cluster-name "$cluster"
expect_failure 254 'ConflictException|ResourceNotFound' update_groups "$(group p5 Compute ml.p5.48xlarge 3 gpu)"
wait_until 60 is_gone
expect_equal "machines of the neighbour" "$neighbours" "$(neighbour_nodes)"
expect_equal "all machines" "$neighbours" "$(machines | sort)"

say "the same by its ARN, and again when it is gone"
cluster=$(aws sagemaker list-clusters | jq -r '.ClusterSummaries[].ClusterArn')
delete_cluster
expect_failure 254 ResourceNotFound aws sagemaker delete-cluster --cluster-name "$cluster"
stop_service
expect_equal "links at the end" lo "$(ip -o link | awk -F': ' '{ print $2 }')"
