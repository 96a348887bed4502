#!/usr/bin/env bash
# The controller's machine dies, twice: while jobs run and wait, and while nodes join. Its address, Slurm's queue and what
# runs outlive it, and what ends without a slurmctld is known to it afterwards.
# Slurm: both
. "$(dirname "$0")/lib.sh"

kill_controller() {
  old=$(ready_id ctl-1)
  kill -KILL "$(machine_pid ctl-1)"
}

start_service
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 3 gpu)"
wait_until 60 nodes_in idle 3
running=$(held_job survivor "-w p5-1 -p gpu --exclusive --no-requeue")
ending=$(held_job ender "-w p5-2 -p gpu --no-requeue")
waiting=$(held_job waiter "-N3 -w p5-1 -p gpu")
wait_until 20 job_is "$running" RUNNING
wait_until 20 job_is "$ending" RUNNING
save_state first_mark
address=$(node_field ctl-1 Address)
others=$(machines | grep -v ctl-1 | sort)

say "while jobs run and wait; one ends meanwhile"
kill_controller
let_go ender
wait_until 60 is_replaced ctl-1 "$old"
expect_equal "its address" "$address" "$(node_field ctl-1 Address)"
wait_until 60 job_is "$ending" COMPLETED
expect_equal "the running job" RUNNING "$(job_state "$running")"
expect_equal "the waiting job" PENDING "$(job_state "$waiting")"
expect_equal "the other machines" "$others" "$(machines | grep -v ctl-1 | sort)"
wait_until 30 topology_is_true

say "while nodes join"
save_state second_mark
update_groups "$(group p5 Compute ml.p5.48xlarge 6 gpu)"
kill_controller
wait_until 60 is_replaced ctl-1 "$old"
wait_until 60 nodes_in idle 5
expect_equal "the running job" RUNNING "$(job_state "$running")"
wait_until 30 counts_are p5 6/6
wait_until 30 topology_is_true

say "the job that waited all the while gets its turn"
let_go survivor
wait_until 30 job_is "$running" COMPLETED
wait_until 30 job_is "$waiting" RUNNING
let_go waiter
wait_until 30 job_is "$waiting" COMPLETED
expect_equal "machines of one name" "" "$(machines | awk '{ print $2 }' | sort | uniq -d)"

delete_cluster
stop_service
