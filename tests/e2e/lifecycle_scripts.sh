#!/usr/bin/env bash
# Lifecycle scripts from a folder that stands for S3: once a machine before its slurmd, a failure with its log's tail in
# the event, mended without a new machine.
# Slurm: both
. "$(dirname "$0")/lib.sh"

readonly s3=/run/stage/s3
readonly scripts=$s3/sagemaker-example/lifecycle
mkdir -p $scripts/lib

# The machines of a group by id, as the product tells.
ids_of() { esp nodes "$cluster" --json | jq -r --arg g "$1" '.Nodes[] | select(.InstanceGroupName == $g) | .InstanceId' | sort; }

cat >$scripts/on_create.sh <<'SCRIPT'
#!/bin/bash
set -e
cd "$(dirname "$0")"
. lib/site.sh
echo "run of $(hostname) by $(id -un)" >>/home/runs
pgrep -x slurmd >/dev/null && echo "slurmd ran before the script on $(hostname)" >>/home/too_early
grep -q '"Name": "p5"' "$SAGEMAKER_RESOURCE_CONFIG_PATH"
grep -q '"controller_group": "ctl"' /opt/ml/config/provisioning_parameters.json
touch /etc/set_up_by_script
SCRIPT
echo 'true' >$scripts/lib/site.sh

start_service --s3-root $s3
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 2 gpu)"
wait_until 90 nodes_in idle 2
expect_equal "scripts that came too late" "" "$(on_login 'cat /home/too_early 2>/dev/null' || true)"
expect_equal "runs" 4 "$(on_login 'wc -l </home/runs')"
expect_equal "its work on a node" p5-1 "$(on p5-1 'test -e /etc/set_up_by_script && hostname')"
expect_match "its log" "OnCreate: on_create.sh" "$(nsenter -t "$(machine_pid p5-1)" -m cat /var/log/provision/provisioning.log)"

say "a restart of the control plane runs no script again"
kill_service
start_service --s3-root $s3
wait_until 30 counts_are p5 2/2
wait_until 30 topology_is_true
expect_equal "runs" 4 "$(on_login 'wc -l </home/runs')"

say "a script that fails is told with its log, and mended in place"
echo 'echo "password=hunter2"; echo "cannot mount /fsx"; exit 3' >$scripts/lib/site.sh
update_groups "$(group p5 Compute ml.p5.48xlarge 3 gpu)"
wait_until 60 events_say 'lifecycle script execution for EC2 Instance .* has Failed'
failed=$(esp events "$cluster" | grep 'has Failed')
expect_match "the event" "ended with status 3.*cannot mount /fsx" "$failed"
expect_equal "secrets in it" 0 "$(grep -c hunter2 <<<"$failed" || true)"
before=$(ids_of p5)
echo 'true' >$scripts/lib/site.sh
wait_until 90 nodes_in idle 3
expect_equal "the machines" "$before" "$(ids_of p5)"

say "another prefix, whose names lead out of the root: refused, and mended without a new machine"
cp -r $scripts $s3/sagemaker-example/other
ln -s /etc/passwd $s3/sagemaker-example/other/passwd
update_groups "$(group p5 Compute ml.p5.48xlarge 4 gpu |
  jq -c '.LifeCycleConfig.SourceS3Uri = "s3://sagemaker-example/other"')"
wait_until 60 events_say 'could not be fetched'
wait_until 60 machine_pid p5-4
before=$(machine_pid p5-4)
rm $s3/sagemaker-example/other/passwd
wait_until 90 nodes_in idle 4
expect_equal "the machine" "$before" "$(machine_pid p5-4)"

delete_cluster
stop_service
