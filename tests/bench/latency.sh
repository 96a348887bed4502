#!/usr/bin/env bash
# How soon a waiting job starts: behind a larger one that waits, and once its own last node has arrived. Aim: 2 s each.
. "$(dirname "$0")/../e2e/lib.sh"

start_service >/dev/null
esp capacity set ml.p5.48xlarge=6 >/dev/null
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 8 gpu)" >/dev/null
wait_until 60 nodes_in idle 6 >/dev/null

# field JOB NAME: of scontrol, times as epoch seconds.
field() { on_login "date -d \$(scontrol -o show job $1 | grep -oE ' $2=[^ ]+' | cut -d= -f2) +%s"; }
eight=$(submit "-N8 -p gpu --wrap 'srun date +%s.%N >eight.out'")
for _ in {1..20}; do submit "-N8 -p gpu --wrap true" >/dev/null; done
six=$(submit "-N6 -p gpu -t 10 --wrap 'date +%s.%N >six.out; srun true'")
wait_until 20 job_is "$six" COMPLETED >/dev/null
printf '6-node job behind 21 waiting 8-node jobs: started %s s after it was submitted\n' \
  "$(awk -v at="$(on_login 'cat six.out')" -v submitted="$(field "$six" SubmitTime)" 'BEGIN { printf "%.1f", at - submitted }')"

esp capacity set ml.p5.48xlarge=8 >/dev/null
wait_until 30 job_is "$eight" COMPLETED >/dev/null
ready=$(esp nodes "$cluster" --json | jq '[.Nodes[] | select(.InstanceGroupName == "p5") | .Since] | max')
printf 'waiting 8-node job: started %s s after its last node was ready\n' \
  "$(awk -v at="$(on_login 'sort eight.out | head -1')" -v ready="$ready" 'BEGIN { printf "%.1f", at - ready }')"
kill_service
