#!/usr/bin/env bash
# Capacity that comes in pieces while jobs wait: node-seconds that are idle although a waiting job would fit on them, for
# each join. ESPALIER_NODES (12) come one by one, jobs of 2 of them wait from the beginning. Aim: 2 s a join.
. "$(dirname "$0")/../e2e/lib.sh"
nodes=${ESPALIER_NODES:-12}
type=ml.p5.48xlarge

# "MICROSECONDS IDLE SMALLEST": idle nodes of gpu, and the size of the smallest job that waits (0: none).
watch_idle() {
  # shellcheck disable=SC2016  # for that machine's shell
  as_root ctl-1 bash -c 'until [ -e /run/enough ]; do
    idle=$(sinfo -h -p gpu -t idle -o %D | head -1) size=$(squeue -h -t PD -o %D | sort -n | head -1)
    echo "${EPOCHREALTIME/./} ${idle:-0} ${size:-0}"
    sleep 0.05; done'
}
all_run() { [ -z "$(on_login 'squeue -h -t PD')" ]; }

start_service >/dev/null
esp capacity set $type=0 >/dev/null
create_cluster "$(head_groups)" "$(group p5 Compute $type "$nodes" gpu)" >/dev/null
wait_until 60 status_is InService >/dev/null
wait_until 30 on_login 'sinfo -h' >/dev/null
for ((i = 0; i < nodes / 2; i++)); do submit "-N2 --exclusive -p gpu --wrap 'sleep infinity'" >/dev/null; done
watch_idle >$stage/idle &
watcher=$!
for ((have = 1; have <= nodes; have++)); do
  esp capacity set $type=$have >/dev/null
  sleep 2
done
wait_until 60 all_run >/dev/null
as_root ctl-1 touch /run/enough
wait $watcher
awk -v n="$nodes" -v slurm="$(slurm_version)" '
  NR > 1 && size > 0 && idle >= size { lost += idle * ($1 - at) / 1e6 }
  { at = $1; idle = $2; size = $3 }
  END { printf "pieces %s, %d nodes one by one: %.1f node-seconds idle while a job would fit, %.2f a join\n", slurm, n, lost, lost / n }
' $stage/idle
kill_service
