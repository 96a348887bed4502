#!/usr/bin/env bash
# Many joins in a short time on real Slurm: ESPALIER_NODES machines (60) at the rate of 500 a minute. How often slurmctld
# is reconfigured, how it answers meanwhile, how long a registered node waits for its place, and the age of truth: from a
# machine's launch until slurmctld shows it on its leaf. Aims: 10 s by reconfigure, 1 s live.
. "$(dirname "$0")/../e2e/lib.sh"
nodes=${ESPALIER_NODES:-60}
type=ml.p5.48xlarge

# Asked on the controller's machine, without a pause: milliseconds of each `scontrol ping`, a line each.
pings() {
  # shellcheck disable=SC2016  # for that machine's shell
  as_root ctl-1 bash -c 'until [ -e /run/enough ]; do a=${EPOCHREALTIME/./}; timeout 60 scontrol ping >/dev/null
    b=${EPOCHREALTIME/./}; echo $(((b - a) / 1000)); sleep 0.05; done'
}
# "MILLISECONDS HOSTLIST": what is still on the leaf unplaced, again and again.
unplaced() {
  # shellcheck disable=SC2016  # for that machine's shell
  as_root ctl-1 bash -c 'until [ -e /run/enough ]; do at=${EPOCHREALTIME/./}
    case $(slurmctld -V) in *\ 2[0-4].*) how=topology ;; *) how=topoconf ;; esac
    echo "${at%???} $(scontrol show $how | awk "/unplaced/ && !/Switches=|children: [^ ]/ { here = 1 }
      here && /[Nn]odes[=:]/ { sub(/.*[Nn]odes[=:] */, \"\"); print \$1; exit }")"; sleep 0.1; done'
}
# percentiles of numbers on standard input: "p50 A, p99 B, most C".
percentiles() {
  sort -n | awk '{ t[NR] = $1 } END { printf "p50 %s, p99 %s, most %s", t[int(NR / 2) + 1], t[int(NR * 0.99) + (NR * 0.99 > int(NR * 0.99))], t[NR] }'
}
# "NODE MILLISECONDS" of when slurmctld was first seen to have it elsewhere than on unplaced, after it was there.
placed_at() {
  awk '
    function expand(list, out,   prefix, parts, n, i, range, k) {
      delete out
      if (!match(list, /\[/)) { out[list]; return }
      prefix = substr(list, 1, RSTART - 1)
      n = split(substr(list, RSTART + 1, length(list) - RSTART - 1), parts, ",")
      for (i = 1; i <= n; i++) { if (split(parts[i], range, "-") == 1) range[2] = range[1]
        for (k = range[1]; k <= range[2]; k++) out[prefix k] } }
    { expand($2, now); for (node in was) if (!(node in now)) at[node] = $1
      delete was; for (node in now) was[node] }
    END { for (node in at) print node, at[node] }' $stage/unplaced
}
reconfigures() { as_root ctl-1 grep -c 'Relinquishing control to new slurmctld' /var/log/slurm/slurmctld.log || true; }
# Longest time between "registered" and "placed" of any node, in ms, as its slot's conditions have it.
longest_wait() {
  local node
  for node in $(esp nodes "$cluster" --json | jq -r '.Nodes[] | select(.NodeType == "Compute") | .NodeName'); do
    esp explain "$cluster" "$node" --json
  done | jq -s '[.[] | (.Conditions | map({(.Type): .Since}) | add) | (.Placed - .Registered) * 1000] | max | floor'
}

start_service >/dev/null
esp capacity set $type=1 >/dev/null
create_cluster "$(head_groups)" "$(group p5 Compute $type "$nodes" gpu)" >/dev/null
wait_until 60 nodes_in idle 1 >/dev/null
slurm=$(slurm_version)
before=$(reconfigures)
pings >$stage/pings &
watchers=$!
unplaced >$stage/unplaced &
watchers+=" $!"
begin=$EPOCHREALTIME
for ((have = 1; have < nodes; )); do
  have=$(awk -v from="$begin" -v to="$EPOCHREALTIME" -v n="$nodes" 'BEGIN { k = 1 + int((to - from) * 500 / 60); print k < n ? k : n }')
  esp capacity set $type="$have" >/dev/null
  sleep 0.2
done
wait_until 600 nodes_in idle "$nodes" >/dev/null
took=$(awk -v from="$begin" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
sleep 1
as_root ctl-1 touch /run/enough
# shellcheck disable=SC2086  # several
wait $watchers
jq -r '"\(.host_name) \(.launched_at)"' $state/machines/*/machine.json | sort >$stage/launched
printf 'joins %s, %d nodes in %s s: %d reconfigures; scontrol ping %s ms; longest wait for a place %s ms; age of truth %s ms\n' \
  "$slurm" $((nodes - 1)) "$took" $(($(reconfigures) - before)) "$(percentiles <$stage/pings)" "$(longest_wait)" \
  "$(join $stage/launched <(placed_at | sort) | awk '{ print $3 - $2 }' | percentiles)"
on ctl-1 sdiag | grep -E 'Max cycle|Mean cycle|Agent queue size|Server thread count' | paste -sd' ' | tr -s ' \t' ' ' |
  sed "s/^/joins $slurm, sdiag: /"
kill_service
