#!/usr/bin/env bash
# Without NodeProvisioningMode a cluster comes whole or not at all: one machine short, and all of it goes back.
. "$(dirname "$0")/lib.sh"

create_whole() {
  create_request "$@" | jq 'del(.NodeProvisioningMode)' >$stage/files/create.json
  aws sagemaker create-cluster --cli-input-json file:///mnt/scenario/create.json
}
no_machine() { [ -z "$(machines)" ]; }
groups=("$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 3 gpu)")

start_service --all-or-nothing-seconds 8
esp capacity set ml.p5.48xlarge=2

say "one machine short: everything goes back, and the cluster has failed with its reason"
create_whole "${groups[@]}"
wait_until 60 status_is Failed
wait_until 20 no_machine
expect_match "the failure" 'do not have sufficient capacity' "$(describe | jq -r .FailureMessage)"
expect_match "a change of it" ConflictException \
  "$(call SageMaker.UpdateCluster "$(jq -c '{ClusterName: .ClusterName, InstanceGroups: .InstanceGroups}' $stage/files/create.json)")"
delete_cluster

say "with enough it comes whole, and is in service only then"
esp capacity set ml.p5.48xlarge=3
create_whole "${groups[@]}"
wait_until 60 status_is InService
expect_equal "nodes at once" 3 "$(node_states | grep -c idle)"
expect_match "its events" ValidationException "$(call SageMaker.ListClusterEvents "{\"ClusterName\":\"$cluster\"}")"

say "an update that cannot be met goes back to what was; what runs goes on"
job=$(submit "-N3 -p gpu --wrap 'sleep 600'")
wait_until 20 job_is "$job" RUNNING
update_groups "$(group p5 Compute ml.p5.48xlarge 5 gpu)"
wait_until 20 counts_are p5 3/5
wait_until 60 counts_are p5 3/3
wait_until 60 status_is InService
expect_equal "the job" RUNNING "$(job_state "$job")"
on_login "scancel $job"

delete_cluster
stop_service
