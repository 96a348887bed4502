#!/usr/bin/env bash
# UpdateClusterSoftware on real machines: batch by batch with its wait between, no job dies of it, and a release that
# does not come up is rolled back. Releases are folders: one more is the same image elsewhere, a third has a broken munged.
# Slurm: both
. "$(dirname "$0")/lib.sh"

readonly second=$stage/release-2 broken=$stage/release-3
# update GROUP IMAGE SECONDS: one machine at a time.
update() {
  aws sagemaker update-cluster-software --cluster-name "$cluster" --image-id "$2" \
    --instance-groups "InstanceGroupName=$1" --deployment-config \
    "RollingUpdatePolicy={MaximumBatchSize={Type=INSTANCE_COUNT,Value=1}},WaitIntervalInSeconds=$3" >/dev/null
}
update_is() { [ "$(group_of "$1" '.SoftwareUpdateStatus // "none"' | tee /dev/stderr)" = "$2" ]; }
# on_release FOLDER GROUP COUNT: so many machines of the group have it, as their own folders say.
on_release() {
  local count
  count=$(cat $state/machines/*/machine.json | jq -s --arg g "$2" --arg i "$1" '[.[] | select(.group == $g and .image == $i)] | length')
  [ "$(tee /dev/stderr <<<"$count")" = "$3" ]
}
# The least time between the starts of two batches, in ms.
least_wait() {
  esp events "$cluster" --json | jq -s '[.[] | select(.Description | test("Next update batch")) | .EventTime] | sort |
    [range(1; length) as $i | .[$i] - .[$i - 1]] | min * 1000 | floor'
}

mkdir $second $broken $stage/broken
mount --bind "$ESPALIER_NODE_IMAGE" $second
mkdir -p $stage/broken/{upper/usr/sbin,work}
printf '#!/bin/sh\necho "this release is broken" >&2\nexit 1\n' >$stage/broken/upper/usr/sbin/munged
chmod 755 $stage/broken/upper/usr/sbin/munged
mount -t overlay -o "lowerdir=$ESPALIER_NODE_IMAGE,upperdir=$stage/broken/upper,workdir=$stage/broken/work" broken $broken

start_service --more-images $second,$broken
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 3 gpu)"
wait_until 60 nodes_in idle 3
wait_until 20 status_is InService

say "an image that is not there is refused, with those that are"
answer=$(call SageMaker.UpdateClusterSoftware "{\"ClusterName\":\"$cluster\",\"ImageId\":\"ami-00000000\"}")
expect_match "the answer" '^400 .*ValidationException.*ami-00000000' "$answer"
mapfile -t images < <(grep -oE 'ami-[0-9a-f]{16}' <<<"$answer")
expect_equal "the images that there are" 3 "${#images[@]}"

refused=$(call SageMaker.UpdateCluster "$(jq -nc --arg name "$cluster" --argjson g "$(group q5 Compute ml.p5.48xlarge 1 gpu |
  jq -c '.ImageId = "ami-00000000"')" '{ClusterName: $name, InstanceGroups: [$g]}')")
expect_match "a group's image that is not there" '^400 .*ValidationException.*q5.*ami-00000000' "$refused"

say "one at a time, the idle ones first; the busy one when its job has ended"
job=$(held_job busy "-w p5-2 -p gpu --no-requeue")
wait_until 20 job_is "$job" RUNNING
update p5 "${images[1]}" 2
wait_until 20 status_is SystemUpdating
wait_until 60 on_release $second p5 2
wait_until 30 nodes_in draining 1
expect_equal "the job" RUNNING "$(job_state "$job")"
expect_match "what explain says" "replaced.*no job is left" "$(esp explain "$cluster" p5-2 | paste -sd' ')"
let_go busy
wait_until 60 on_release $second p5 3
wait_until 30 update_is p5 Succeeded
wait_until 20 status_is InService
wait_until 30 nodes_in idle 3
expect_equal "the job" COMPLETED "$(job_state "$job")"
expect_equal "the release that DescribeCluster shows" "${images[1]}" "$(group_of p5 .CurrentImageId)"
[ "$(least_wait)" -ge 2000 ] || fail "a batch did not wait its 2 s: $(least_wait) ms"
wait_until 20 topology_is_true

say "the controller too, with a job that runs on"
job=$(held_job through "-w p5-1 -p gpu --no-requeue")
wait_until 20 job_is "$job" RUNNING
update ctl "${images[1]}" 0
wait_until 60 update_is ctl Succeeded
wait_until 30 nodes_in idle 2
expect_equal "the job" RUNNING "$(job_state "$job")"
on_release $second ctl 1

say "a release that does not come up is rolled back; it cost one node of three, and no job"
before=$(machine_pid p5-1)
update p5 "${images[2]}" 0
wait_until 90 update_is p5 RollbackComplete
wait_until 60 nodes_in idle 2
wait_until 20 status_is InService
on_release $second p5 3
expect_equal "the machine with a job" "$before" "$(machine_pid p5-1)"
expect_equal "the job" RUNNING "$(job_state "$job")"
expect_match "the event" 'Failed to complete UpdateClusterSoftware for IG p5 .*munged' "$(esp events "$cluster" | grep 'Failed to complete')"
let_go through

say "a new group with a release of its own"
update_groups "$(group q5 Compute ml.p5.48xlarge 1 gpu | jq -c --arg image "${images[1]}" '.ImageId = $image')" >/dev/null
wait_until 60 on_release $second q5 1
refused=$(call SageMaker.UpdateCluster "$(jq -nc --arg name "$cluster" --argjson g "$(group q5 Compute ml.p5.48xlarge 1 gpu |
  jq -c --arg image "${images[0]}" '.ImageId = $image')" '{ClusterName: $name, InstanceGroups: [$g]}')")
expect_match "another one later" '^400 .*ValidationException.*Updating fields ImageId' "$refused"

delete_cluster
stop_service
