#!/usr/bin/env bash
# From Slurm 24.11 to 26.05 under a running job: the controller first, then the login machine, then the compute nodes as
# they become idle. Slurm keeps its state, the topology its names, and gets what only the new version can express.
. "$(dirname "$0")/lib.sh"

# update GROUP: to the release with the new Slurm.
update() {
  aws sagemaker update-cluster-software --cluster-name "$cluster" --image-id "$new_release" \
    --instance-groups "InstanceGroupName=$1" >/dev/null
}
update_is() { [ "$(group_of "$1" '.SoftwareUpdateStatus // "none"' | tee /dev/stderr)" = "$2" ]; }
topology_files() { on ctl-1 'cd /etc/slurm && echo topology.[cy]*'; }
runs_slurm() { [ "$(on "$1" 'sinfo --version' | tee /dev/stderr | grep -oE '[0-9]+\.[0-9]+' | head -1)" = "$2" ]; }
# What 24.11 has no words for comes when nobody is left who reads the files with it.
partition_has_blocks() { on ctl-1 'scontrol -o show partition nvl' | grep ' Topology=block'; }
# Nothing but the leaves; those of the default topology on either version.
same_leaves() { [ "$(slurm_leaves | tee /dev/stderr)" = "$leaves" ]; }

start_service --more-images "$ESPALIER_NODE_IMAGE_26_05"
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 3 gpu)" \
  "$(group gb200 Compute ml.p6e-gb200.36xlarge 2 nvl)"
wait_until 60 nodes_in idle 5
wait_until 20 topology_is_true
new_release=$(call SageMaker.UpdateClusterSoftware "{\"ClusterName\":\"$cluster\",\"ImageId\":\"ami-00000000\"}" |
  grep -oE 'ami-[0-9a-f]{16}' | tail -1)
leaves=$(slurm_leaves)
runs_slurm ctl-1 24.11
expect_equal "the file of 24.11" topology.conf "$(topology_files)"
# Its last step begins on a 24.11 node of a 26.05 cluster: with no word in slurm.conf that its own srun does not know.
job=$(submit "-w p5-1 --exclusive -p gpu --no-requeue \
  --wrap 'until [ -e held.go ]; do sleep 0.2; done; srun hostname >finished'")
wait_until 20 job_is "$job" RUNNING
running=$(job_run "$job")
waiting=$(submit "-N3 -p gpu --wrap 'srun hostname'")

say "the controller: slurmctld goes on with what it kept; its file is another now, the places are not"
update ctl
wait_until 90 update_is ctl Succeeded
wait_until 30 runs_slurm ctl-1 26.05
wait_until 30 same_leaves
wait_until 30 topology_is_true
job_survives "$job" "$running"
expect_equal "the file of 26.05" topology.yaml "$(topology_files)"
expect_equal "the job that waits" PENDING "$(job_state "$waiting")"
wait_until 30 nodes_in idle 4

say "the login machine, then the nodes: the busy one when its job has ended"
update login
wait_until 90 update_is login Succeeded
wait_until 30 runs_slurm login-1 26.05
update gb200
update p5
wait_until 90 update_is gb200 Succeeded
wait_until 90 nodes_in draining 1
job_survives "$job" "$running"
runs_slurm p5-1 24.11
let_go held
wait_until 90 update_is p5 Succeeded
[ "$(job_state "$job")" = COMPLETED ] || fail "the job did not end well" "$(on_login "cat slurm-$job.out")"
expect_equal "where its last step ran" p5-1 "$(on_login 'cat finished')"
wait_until 60 job_is "$waiting" COMPLETED
for node in p5-1 p5-2 p5-3 gb200-1 gb200-2; do runs_slurm $node 26.05; done
wait_until 30 topology_is_true
wait_until 30 partition_has_blocks
expect_equal "a job in the UltraServers' domain" 2 "$(on_login 'srun -N2 -p nvl hostname' | wc -l)"
slurmctld_log_is_clean

delete_cluster
stop_service
