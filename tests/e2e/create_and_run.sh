#!/usr/bin/env bash
# One API call grows a cluster; a job over all of it sees every GPU; deleting leaves nothing.
# Slurm: both
. "$(dirname "$0")/lib.sh"

start_service
arn=$(create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 8 gpu)" "$(group c5 Compute ml.c5.4xlarge 2 cpu)" |
  jq -r .ClusterArn)
expect_match "the ARN" '^arn:aws:sagemaker:us-west-2:[0-9]{12}:cluster/[a-z0-9]{12}$' "$arn"
wait_until 60 status_is InService
wait_until 60 nodes_in idle 10
wait_until 20 counts_are p5 8/8

say "the API lists every machine, by ARN too"
listed=$(aws sagemaker list-cluster-nodes --cluster-name "$arn" --max-results 100)
expect_equal "nodes listed as Running" 12 \
  "$(jq '[.ClusterNodeSummaries[] | select(.InstanceStatus.Status == "Running")] | length' <<<"$listed")"
expect_equal "different instance ids" 12 "$(jq '[.ClusterNodeSummaries[].InstanceId] | unique | length' <<<"$listed")"
id=$(jq -r '[.ClusterNodeSummaries[] | select(.InstanceGroupName == "p5")][0].InstanceId' <<<"$listed")
expect_equal "type of one of them" ml.p5.48xlarge \
  "$(aws sagemaker describe-cluster-node --cluster-name "$cluster" --node-id "$id" | jq -r .NodeDetails.InstanceType)"
expect_equal "clusters in this region" "$cluster" \
  "$(aws sagemaker list-clusters | jq -r '.ClusterSummaries[].ClusterName')"

say "a job over eight nodes, as the ordinary user, written into the shared home"
on_login 'cat >job.sh' <<'JOB'
#!/bin/bash
#SBATCH -N8 --ntasks-per-node=1 --gres=gpu:8 -p gpu -o job.out
srun bash -c 'echo "$(hostname) $CUDA_VISIBLE_DEVICES $(id -un)"'
JOB
job=$(submit '-W job.sh')
expect_equal "what job $job wrote" "$(printf 'p5-%d 0,1,2,3,4,5,6,7 ubuntu\n' {1..8})" \
  "$(on_login 'sort -V job.out')"
expect_equal "the same file on another machine" 8 "$(on c5-2 'wc -l </home/ubuntu/job.out')"

say "every machine resolves every other"
names="ctl-1 login-1 $(echo p5-{1..8} c5-{1..2})"
for node in $names; do
  on "$node" "getent hosts $names >/dev/null" || fail "$node does not resolve all of: $names"
done

say "the login machine is a client only"
expect_equal "login in sinfo" "" "$(node_states | grep login || true)"
expect_equal "slurmd on the login machine" "" "$(on_login 'pgrep -x slurmd' || true)"

say "espalier ssh enters machines"
# shellcheck disable=SC2016  # the machine's shell expands it
expect_equal "as the ordinary user" "p5-3 ubuntu" \
  "$(esp ssh "$cluster" p5-3 -- bash -c 'echo "$HOSTNAME $USER"' </dev/null)"
expect_failure 7 '' esp ssh "$cluster" p5-3 -- bash -c 'exit 7'
expect_failure 3 'p5-99' esp ssh "$cluster" p5-99 -- true

delete_cluster
expect_equal "clusters left" 0 "$(aws sagemaker list-clusters | jq '.ClusterSummaries | length')"
stop_service
