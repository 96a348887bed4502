#!/usr/bin/env bash
# What cannot be is refused with the right class, status and a message that says what to change; nothing is half made.
. "$(dirname "$0")/lib.sh"

# refused STATUS CLASS REGEX TARGET BODY: an operation on the wire.
refused() {
  local answer
  answer=$(call "$4" "$5")
  expect_match "status and class of $4 $5" "^$1 .*\"__type\" *: *\"([^\"]*#)?$2\"" "$answer"
  expect_match "message of $4 $5" "$3" "$answer"
}
# create_refused CLASS REGEX GROUP…: CreateCluster with these groups.
create_refused() {
  local class=$1 pattern=$2
  shift 2
  refused 400 "$class" "$pattern" SageMaker.CreateCluster "$(create_request "$@")"
}
controller=$(group ctl Controller ml.c5.xlarge 1)
workers=$(group p5 Compute ml.p5.48xlarge 2 gpu)
letters() { printf 'x%.0s' $(seq "$1"); }

start_service --max-cluster-instances 20

say "the layout of a cluster"
create_refused ValidationException 'ml\.p9\.48xlarge' "$controller" "$(group p9 Compute ml.p9.48xlarge 1 gpu)"
create_refused ValidationException 'size' "$controller" "$(group g7 Compute ml.g7e.2xlarge 1 gpu)"
create_refused ValidationException 'no InstanceGroup with Controller' "$workers"
create_refused ValidationException '2 Controller Groups found' "$controller" "$(group second Controller ml.c5.xlarge 1)"
create_refused ValidationException 'Partitions can only be assigned to Compute' "$(group ctl Controller ml.c5.xlarge 1 gpu)"
create_refused ValidationException 'artition' "$controller" "$(group p5 Compute ml.p5.48xlarge 2)"
create_refused ResourceLimitExceeded '20' "$controller" "$(group p5 Compute ml.p5.48xlarge 30 gpu)"
create_refused ValidationException '6758' "$controller" "$(group p5 Compute ml.p5.48xlarge 6759 gpu)"

say "names that Slurm or a host cannot carry"
create_refused ValidationException '63' "$controller" "$(group "$(letters 62)" Compute ml.p5.48xlarge 2 gpu)"
create_refused ValidationException 'DEFAULT' "$controller" "$(group p5 Compute ml.p5.48xlarge 2 DEFAULT)"
create_refused ValidationException 'dev' "$controller" "$(group p5 Compute ml.p5.48xlarge 2 dev)"
create_refused ValidationException 'case' "$controller" "$workers" "$(group P5 Compute ml.p5.48xlarge 2 gpu)"
create_refused ValidationException 'nstanceGroupName' "$controller" "$(group 'p5_x' Compute ml.p5.48xlarge 2 gpu)"

say "what makes a cluster ours"
good=$(create_request "$controller" "$workers")
refused 400 ValidationException 'Orchestrator.*Slurm' SageMaker.CreateCluster "$(jq -c 'del(.Orchestrator)' <<<"$good")"
refused 400 ValidationException '[eE]xecutionRole' SageMaker.CreateCluster \
  "$(jq -c 'del(.InstanceGroups[0].ExecutionRole)' <<<"$good")"

say "the wire"
refused 400 '(SerializationException|MalformedHttpRequestException|ValidationError)' '.' SageMaker.CreateCluster '{"ClusterName":'
refused 404 UnknownOperationException 'MakeCluster' SageMaker.MakeCluster '{}'
refused 400 ResourceNotFound 'nowhere' SageMaker.DescribeCluster '{"ClusterName":"nowhere"}'

say "as a user of the AWS CLI sees it"
cluster=trellis expect_failure 254 'ValidationException.*ml\.p9\.48xlarge' create_cluster "$controller" "$(group p9 Compute ml.p9.48xlarge 1 gpu)"
expect_equal "clusters that came of all that" 0 "$(aws sagemaker list-clusters | jq '.ClusterSummaries | length')"
nothing_left

say "a name that is taken, and changes that cannot be"
create_cluster "$controller" "$workers"
create_refused ResourceInUse "$cluster" "$controller"
update_refused() { refused 400 "$1" "$2" SageMaker.UpdateCluster "$(jq -nc --arg name "$cluster" "{ClusterName: \$name} + $3")"; }
update_refused ValidationException 'InstanceType' "{InstanceGroups: [$(group p5 Compute ml.p4d.24xlarge 2 gpu)]}"
update_refused ValidationException 'ontroller' '{InstanceGroupsToDelete: ["ctl"]}'
update_refused ValidationException 'nobody' '{InstanceGroupsToDelete: ["nobody"]}'
update_refused ResourceLimitExceeded '20' "{InstanceGroups: [$(group p5 Compute ml.p5.48xlarge 100 gpu)]}"
expect_equal "what is wanted, still" 2 "$(group_of p5 .TargetCount)"
expect_failure 3 "$cluster" esp nodes trelis
delete_cluster
stop_service

say "a control plane that cannot start"
start_service
expect_failure 1 '8650' serve --state $stage/other --bridge espalier1 --subnet 10.78.0.0/16
stop_service
expect_failure 1 "$stage/nothing" serve --image $stage/nothing
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$ESPALIER_BUILD/espalier" serve --state "$1" --image "$ESPALIER_NODE_IMAGE"; }
mkdir -m 777 $stage/anyone
expect_failure 1 'root' as_nobody $stage/anyone
