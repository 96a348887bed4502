#!/usr/bin/env bash
# From a fault to the job that it stopped or held up: slurmd killed, a compute machine killed, the controller's machine
# killed; ESPALIER_ROUNDS times (5). Machines of namespaces boot in a moment, so nearly all of it is our own share (aim:
# 5 s), but for a job that ran: Slurm itself holds that back (docs/guide/slurm.md), so the new machine's time is told too.
. "$(dirname "$0")/../e2e/lib.sh"

rounds=${ESPALIER_ROUNDS:-5}
pid_of() { pgrep --ns "$(machine_pid "$1")" --nslist pid -x "$2"; }
# ran NAME: the job has written when it began.
ran() { on_login "test -s $1.out"; }
# whole NAME: a job over all nodes, which runs until it is let go and writes when it begins; prints its number.
whole() { submit "-J $1 -N4 -p gpu --requeue --wrap 'date +%s%3N >$1.out; until [ -e $1.go ]; do sleep 0.1; done'"; }
# one FAULT NAME COMMAND…: after the fault that COMMAND makes, when does a job over all nodes begin?
one() {
  local name=$2 begin
  begin=$(date +%s%3N)
  "${@:3}"
  whole "$name" >/dev/null
  wait_until 60 ran "$name" >/dev/null
  echo $(($(on_login "cat $name.out") - begin)) >>"$stage/$1"
  let_go "$name"
  wait_until 60 nodes_in idle 4 >/dev/null
}
# again NAME: a job that runs is stopped by the death of its machine and begins again.
again() {
  local name=$1 job id begin
  job=$(whole "$name")
  wait_until 30 ran "$name" >/dev/null
  on_login "rm $name.out"
  begin=$(date +%s%3N)
  id=$(ready_id p5-3)
  kill -KILL "$(machine_pid p5-3)"
  wait_until 60 is_replaced p5-3 "$id" >/dev/null
  echo $(($(date +%s%3N) - begin)) >>$stage/replaced
  wait_until 200 ran "$name" >/dev/null
  echo $(($(on_login "cat $name.out") - begin)) >>$stage/running_job
  on_login "scontrol -o show job $job" | grep -q ' Restarts=1 ' || fail "job $job did not run twice"
  let_go "$name"
  wait_until 60 nodes_in idle 4 >/dev/null
}
summary() {  # FAULT TEXT
  sort -n "$stage/$1" | awk -v text="$2" '{ t[NR] = $1 } END {
    m = NR % 2 ? t[(NR + 1) / 2] : (t[NR / 2] + t[NR / 2 + 1]) / 2
    printf "%-52s median %.2f s (%.2f to %.2f, n=%d)\n", text, m / 1000, t[1] / 1000, t[NR] / 1000, NR }'
}
kill_daemon() { kill -KILL "$(pid_of "$1" "$2")"; }
kill_machine() { kill -KILL "$(machine_pid "$1")"; }
kill_controller() {
  local id
  id=$(ready_id ctl-1)
  kill_machine ctl-1
  wait_until 60 is_replaced ctl-1 "$id" >/dev/null  # nobody can submit before
}

start_service >/dev/null
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 4 gpu)" >/dev/null
wait_until 60 nodes_in idle 4 >/dev/null
for ((i = 0; i < rounds; i++)); do
  one slurmd "slurmd$i" kill_daemon p5-2 slurmd
  one machine "machine$i" kill_machine p5-3
  save_state "mark$i" >/dev/null  # that the job before has ended, too
  one controller "controller$i" kill_controller
  again "again$i"
done
summary slurmd "slurmd killed: next job over all 4 nodes began"
summary machine "machine killed: next job over all 4 nodes began"
summary controller "controller killed: next job over all 4 nodes began"
summary replaced "machine killed: another one Ready for the job it ran"
summary running_job "… and that job ran again"
kill_service
