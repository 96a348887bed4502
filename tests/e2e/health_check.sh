#!/usr/bin/env bash
# Deep health checks: jobs end in peace, nodes are tried, and each is given back, kept out or replaced as it answers.
# Slurm: both
. "$(dirname "$0")/lib.sh"

# check KINDS [INSTANCE…]: of the group p5.
check() {
  local kinds=$1
  shift
  jq -nc --argjson kinds "$kinds" '[{InstanceGroupName: "p5", DeepHealthChecks: $kinds} +
    if $ARGS.positional == [] then {} else {InstanceIds: $ARGS.positional} end]' --args "$@" >$stage/files/check.json
  aws sagemaker start-cluster-health-check --cluster-name $cluster \
    --deep-health-check-configurations file:///mnt/scenario/check.json
}
node_json() { esp nodes "$cluster" --json | jq -c --arg name "$1" '.Nodes[] | select(.NodeName == $name)'; }
instance() { node_json "$1" | jq -r .InstanceId; }
status_of() { aws sagemaker describe-cluster-node --cluster-name $cluster --node-id "$1" | jq -r .NodeDetails.InstanceStatus.Status; }
reason_of() { on_login "scontrol -o show node $1" | sed -nE 's/.* Reason=(.*)/\1/p'; }
events_of() { aws sagemaker list-cluster-events --cluster-name $cluster --max-results 100 | jq -r '.Events[].Description' | grep -c -- "$1"; }
said() { [ "$(events_of "$1" | tee /dev/stderr)" -ge "$2" ]; }  # said TEXT TIMES
nobody_checks() { ! esp nodes $cluster | grep Checking; }
is_replaced() { [ "$(node_json "$1" | tee /dev/stderr | jq -r 'select(.State == "Ready") | .InstanceId // "'"$2"'"')" != "$2" ] && machine_pid "$1"; }
# own_program NODE TEXT: the machine's own check says so.
own_program() {
  nsenter -t "$(machine_pid "$1")" -m -r sh -c 'mkdir -p /etc/espalier && cat >/etc/espalier/health-check &&
    chmod 755 /etc/espalier/health-check' <<<"#!/bin/sh
echo checking \$1
echo $2"
}

start_service
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 3 gpu)"
wait_until 60 nodes_in idle 3

say "what cannot be done is said; the job on the node ends first"
job=$(submit "-w p5-1 -p gpu --wrap 'until [ -e /tmp/end ]; do sleep 0.2; done'")
wait_until 20 job_is "$job" RUNNING
check '["InstanceStress"]' >/dev/null
expect_equal "the status" DeepHealthCheckInProgress "$(status_of "$(instance p5-1)")"
expect_failure 254 ConflictException check '["InstanceStress"]'
waiting=$(submit "-N 3 -p gpu --wrap 'sleep 1'")
wait_until 20 said 'could not be done' 2
expect_equal "the job" RUNNING "$(job_state "$job")"
expect_equal "the reason in Slurm" "espalier:health-check" "$(reason_of p5-1 | cut -d' ' -f1)"
on p5-1 'touch /tmp/end'
wait_until 30 job_is "$waiting" COMPLETED
expect_equal "the job that ran" COMPLETED "$(job_state "$job")"
wait_until 20 nodes_in idle 3
expect_equal "no reason is left" "" "$(reason_of p5-1)$(reason_of p5-2)$(reason_of p5-3)"

say "the machines' own programs decide"
own_program p5-1 "healthy all fans turn"
own_program p5-2 "drain fan 3 is loud"
own_program p5-3 "replace ECC errors"
old=$(instance p5-3) kept=$(instance p5-2)
check '["InstanceStress"]' >/dev/null
wait_until 60 is_replaced p5-3 "$old"
wait_until 20 nobody_checks
wait_until 20 nodes_in idle 2
expect_match "what Slurm says of p5-2" '^health check: InstanceStress: fan 3 is loud' "$(reason_of p5-2)"
expect_equal "p5-2 keeps its machine" "$kept" "$(instance p5-2)"
expect_equal "passed" 1 "$(events_of "Deep health check of Instance $(instance p5-1) .* passed")"
expect_match "the successor was checked too" '^[1-9]' "$(events_of "Deep health check of Instance $(instance p5-3) ")"
nsenter -t "$(machine_pid ctl-1)" -a -r scontrol update nodename=p5-2 state=resume
wait_until 20 nodes_in idle 3

say "all reach all"
for node in p5-1 p5-2; do nsenter -t "$(machine_pid $node)" -m -r rm /etc/espalier/health-check; done
passed=$(events_of passed || true)
check '["InstanceConnectivity"]' >/dev/null
wait_until 30 said passed $((passed + 3))
wait_until 20 nodes_in idle 3

say "a node that reaches no other is replaced, and no other is"
old=$(instance p5-2)
others="$(instance p5-1) $(instance p5-3)"
for node in p5-1 p5-3; do
  nsenter -t "$(machine_pid p5-2)" -n ip route add unreachable "$(node_json $node | jq -r .Address)/32"
done
check '["InstanceConnectivity"]' >/dev/null
wait_until 90 is_replaced p5-2 "$old"
wait_until 30 nodes_in idle 3
expect_equal "the others" "$others" "$(instance p5-1) $(instance p5-3)"
expect_equal "a job over all" "p5-1 p5-2 p5-3" "$(on_login 'srun -N 3 -p gpu hostname' | sort | xargs)"

say "new machines are checked before their first job, with each other"
passed=$(events_of passed || true)
update_groups "$(group q5 Compute ml.p5.48xlarge 2 gpu | jq -c '.OnStartDeepHealthChecks = ["InstanceConnectivity"]')" >/dev/null
wait_until 60 nodes_in idle 5
expect_equal "checks of new machines" $((passed + 2)) "$(events_of passed)"

say "a restart of the control plane in the middle"
own_program p5-1 "healthy \$(sleep 6)"
check '["InstanceStress"]' "$(instance p5-1)" >/dev/null
began() { pgrep -f /etc/espalier/health-check; }
wait_until 20 began
kill_service
start_service
wait_until 30 said passed $((passed + 3))
wait_until 20 nodes_in idle 5

delete_cluster
stop_service
