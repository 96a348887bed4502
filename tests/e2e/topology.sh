#!/usr/bin/env bash
# Slurm's topology is true the whole time: before machines are there, while they come and go, and under running jobs.
# Slurm: both
. "$(dirname "$0")/lib.sh"

slurm_is_flat() { [ -z "$(slurm_leaves)" ]; }
status_says() { esp topology status "$cluster" --json | jq -e "$1"; }
# What an admin would do: move a node where it can be moved, else write a file.
change_by_other_hands() {
  if on_login "scontrol show topoconf" >/dev/null 2>&1; then
    echo "scontrol update NodeName=p5-1 Topology=tree:fabric:mine"
  else
    echo "echo 'SwitchName=mine Nodes=$(on_login "sinfo -h -o %N" | paste -sd,)' >/etc/slurm/topology.conf; scontrol reconfigure"
  fi
}
p5_nodes_are() { [ "$(node_states | grep -c '^p5-')" = "$1" ]; }

start_service
esp capacity set ml.p5.48xlarge=0
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 8 gpu)" "$(group c5 Compute ml.c5.4xlarge 2 cpu)"
wait_until 60 status_is InService
wait_until 60 nodes_in idle 2

say "slots without a machine are on the leaf unplaced, CPU nodes off the fabric"
wait_until 20 topology_is_true
expect_equal "leaf of p5-8" unplaced "$(leaf_of p5-8)"
expect_equal "leaf of c5-1" off-fabric "$(leaf_of c5-1)"
case $(on_login 'sinfo --version') in
  *\ 2[0-4].*) file=topology.conf ;;
  *) file=topology.yaml ;;
esac
expect_equal "the file that this version can have" /etc/slurm/$file "$(on ctl-1 'ls /etc/slurm/topology.*')"

say "machines arrive: every node has a leaf of its fabric"
esp capacity set ml.p5.48xlarge=8
wait_until 60 nodes_in idle 10
wait_until 20 no_leaf_is unplaced
wait_until 20 topology_is_true
leaves=$(slurm_leaves)

say "scaling up while a job waits takes no live node hostage"
job=$(submit "-N2 -p gpu --wrap 'sleep 600'")
wait_until 20 job_is "$job" RUNNING
running=$(job_run "$job")
update_groups "$(group p5 Compute ml.p5.48xlarge 12 gpu)"
wait_until 30 p5_nodes_are 12
waiting=$(submit "-N10 -p gpu --wrap 'srun hostname'")
small=$(submit "-N6 -p gpu -t 10 --wrap 'srun hostname'")
wait_until 20 job_is "$small" COMPLETED
expect_equal "the waiting job" "PENDING" "$(on_login "squeue -h -j $waiting -o '%T%N'")"
wait_until 20 topology_is_true
expect_equal "places of those that were there" "$leaves" "$(slurm_leaves | grep -v ' unplaced$')"
job_survives "$job" "$running"
esp capacity set ml.p5.48xlarge=12
wait_until 60 job_is "$waiting" COMPLETED
wait_until 20 topology_is_true
wait_until 20 no_leaf_is unplaced
job_survives "$job" "$running"

say "the topology can be set, by whoever may change the cluster; jobs go on"
esp topology set "$cluster" off
wait_until 20 slurm_is_flat
wait_until 20 status_says '.Wish == "off" and .Model == "flat" and .True'
job_survives "$job" "$running"
esp topology set "$cluster" auto
wait_until 20 no_leaf_is unplaced
wait_until 20 topology_is_true
expect_match "where p5-1 is and why" "on leaf $(leaf_of p5-1), where its machine hangs" \
  "$(esp topology explain "$cluster" p5-1)"
expect_match "why this model" 'have a known place in the network' "$(esp topology explain "$cluster")"

say "what other hands change is told and put back"
slurmctld_log_is_clean
leaves=$(slurm_leaves)
as_root ctl-1 bash -ec "$(change_by_other_hands)"
expect_equal "the admin's leaf" mine "$(leaf_of p5-1)"
wait_until 90 topology_is_true
expect_equal "all places" "$leaves" "$(slurm_leaves)"
expect_match "an event" 'no longer what was applied' "$(esp events "$cluster")"
job_survives "$job" "$running"

say "scaling down takes idle nodes and prunes the tree"
update_groups "$(group p5 Compute ml.p5.48xlarge 3 gpu)"
wait_until 60 p5_nodes_are 3
wait_until 20 topology_is_true
job_survives "$job" "$running"
on_login "scancel $job"

delete_cluster
stop_service
