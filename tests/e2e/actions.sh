#!/usr/bin/env bash
# Machines are rebooted and replaced by order: of the API, and of an admin by a reason in Slurm. Jobs end first, unless
# the admin says down.
# Slurm: both
. "$(dirname "$0")/lib.sh"

is_whole() { nodes_in idle 4 && ready_are 6; }
# order NODE STATE REASON: what an admin writes into Slurm.
order() { as_root ctl-1 scontrol update "nodename=$1" "state=$2" "reason=$3"; }
slurm_state() { on_login "scontrol -o show node $1" | grep -oE ' State=[^ ]+' | cut -d= -f2; }
slurm_state_has() { slurm_state "$1" | tee /dev/stderr | grep "$2" >/dev/null; }
daemon_is_not() { local pid; pid=$(as_root "$1" pgrep -x "$2") && [ "$pid" != "$3" ]; }  # NODE DAEMON OLD_PID
registered_at() { on_login "scontrol -o show node $1" | grep -oE 'SlurmdStartTime=[^ ]+'; }
# lies_back TIME: Slurm tells times in whole seconds; a daemon that starts anew in the same one would not be seen. A
# reconfigure starts slurmd anew too.
lies_back() { [ "$(on_login "date -d ${1#*=} +%s")" -lt "$(on_login 'date +%s')" ]; }
registers_again() { [ "$(registered_at "$1" | tee /dev/stderr)" != "$2" ]; }  # NODE OLD_TIME
# run_on NODE NAME: a job there that runs until it is let go.
run_on() {
  job=$(held_job "$2" "-w $1 -p gpu --no-requeue")
  wait_until 20 job_is "$job" RUNNING
}
# still_waits NODE PID: its job runs on, on the machine that was there.
still_waits() {
  expect_equal "the job on $1" RUNNING "$(job_state "$job")"
  expect_equal "the machine of $1" "$2" "$(machine_pid "$1")"
}

start_service
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 4 gpu)"
wait_until 60 is_whole

say "BatchRebootClusterNodes: the same machine, after its job; each node has its own answer"
run_on p5-1 first
id=$(ready_id p5-1)
pid=$(machine_pid p5-1)
address=$(node_field p5-1 Address)
answer=$(aws sagemaker batch-reboot-cluster-nodes --cluster-name "$cluster" --node-ids "$id" i-00000000000000000)
expect_equal "what was accepted" "$id" "$(jq -r '.Successful[]' <<<"$answer")"
expect_equal "what was not" "i-00000000000000000 InstanceIdNotFound" "$(jq -r '.Failed[] | "\(.NodeId) \(.ErrorCode)"' <<<"$answer")"
wait_until 20 slurm_state_has p5-1 DRAIN
still_waits p5-1 "$pid"
let_go first
wait_until 60 is_another_process p5-1 "$pid"
wait_until 60 is_whole
expect_equal "the job on it" COMPLETED "$(job_state "$job")"
expect_equal "its id" "$id" "$(ready_id p5-1)"
expect_equal "its address" "$address" "$(node_field p5-1 Address)"
expect_equal "a job on it" p5-1 "$(on_login 'srun -w p5-1 -p gpu --gres=gpu:8 hostname')"

say "state=fail Action:Replace: another machine, after its job"
run_on p5-2 second
id=$(ready_id p5-2)
pid=$(machine_pid p5-2)
order p5-2 fail Action:Replace
wait_until 20 slurm_state_has p5-2 DRAIN
still_waits p5-2 "$pid"
let_go second
wait_until 60 is_replaced p5-2 "$id"
wait_until 60 is_whole
expect_equal "the job on it" COMPLETED "$(job_state "$job")"

say "state=fail Action:Reboot waits, and state=down does not any longer"
run_on p5-3 third
id=$(ready_id p5-3)
pid=$(machine_pid p5-3)
order p5-3 fail Action:Reboot
wait_until 20 slurm_state_has p5-3 DRAIN
still_waits p5-3 "$pid"
order p5-3 down Action:Reboot
wait_until 60 is_another_process p5-3 "$pid"
wait_until 60 is_whole
expect_equal "its id" "$id" "$(ready_id p5-3)"
expect_equal "the job on it" NODE_FAIL "$(job_state "$job")"

say "state=down Action:Replace: another machine at once"
run_on p5-3 fourth
id=$(ready_id p5-3)
order p5-3 down Action:Replace
wait_until 60 is_replaced p5-3 "$id"
wait_until 60 is_whole
expect_equal "the job on it" NODE_FAIL "$(job_state "$job")"

say "another word, or the word without a fault, is no order; an admin's drain and down outlast everybody's restart"
before=$(machines | sort)
order p5-4 drain action:replace
order p5-1 drain Action:Replace
order p5-2 down 'looking at it'
wait_until 20 nodes_in drained 2
kill_service
start_service
for node in p5-2 p5-4; do
  was=$(registered_at $node)
  wait_until 5 lies_back "$was"
  as_root $node pkill -x slurmd
  wait_until 30 registers_again $node "$was"
done
slurmctld=$(as_root ctl-1 pgrep -x slurmctld)
as_root ctl-1 pkill -x slurmctld
wait_until 30 daemon_is_not ctl-1 slurmctld "$slurmctld"
wait_until 60 topology_is_true
wait_until 30 nodes_in drained 2
wait_until 30 nodes_in down 1
expect_equal "the machines" "$before" "$(machines | sort)"
for node in p5-1 p5-2 p5-4; do order $node resume 'all is well'; done
wait_until 30 is_whole

delete_cluster
stop_service
