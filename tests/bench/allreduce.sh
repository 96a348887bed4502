#!/usr/bin/env bash
# What placement is worth to a job: a ring all-reduce over TCP between its ranks, with our topology and with none, on a
# fabric of real links: a bridge a leaf and a spine, uplinks no faster than the link of one machine. Every arm runs the
# same jobs of ESPALIER_RANKS (8) on a half-full cluster of ESPALIER_NODES (32), ESPALIER_FLOATS (262144) to reduce.
. "$(dirname "$0")/../e2e/lib.sh"
nodes=${ESPALIER_NODES:-32} ranks=${ESPALIER_RANKS:-8} floats=${ESPALIER_FLOATS:-262144} runs=${ESPALIER_RUNS:-5}
readonly rate=5mbit  # low enough for one processor to fill all links

shape() { tc qdisc replace dev "$1" root tbf rate $rate burst 16k latency 200ms; }
# level BRIDGE PARENT: a switch of the fabric, and its shaped cable up.
level() {
  ! ip link show "b-$1" >/dev/null 2>&1 || return 0
  ip link add "b-$1" type bridge
  ip link set "b-$1" up
  ip link add "u-$1" type veth peer name "d-$1"
  ip link set "u-$1" master "b-$1" up
  ip link set "d-$1" master "$2" up
  shape "u-$1"
  shape "d-$1"
}
# Machines are unplugged from the one bridge of the local provider and plugged into their leaf's.
build_fabric() {
  local link path core spine leaf
  while read -r link path; do
    IFS=/ read -r core spine leaf <<<"$path"
    level "$core" espalier0
    level "$spine" "b-$core"
    level "$leaf" "b-$spine"
    ip link set "$link" master "b-$leaf"
    shape "$link"
  done < <(jq -r 'select(.position.network_nodes != []) | "\(.link) \(.position.network_nodes | join("/"))"' \
    $state/machines/*/machine.json)
}
# run NAME: milliseconds of all runs, appended to $stage/NAME, and crossings of leaves.
run() {
  local i
  for ((i = 0; i < runs; i++)); do
    on_login "rm -rf ring; mkdir ring; salloc -Q --exclusive -N$ranks -p gpu bash -c '
      srun -l hostname >hosts
      begin=\$(date +%s%N); srun perl ring.pl ring $floats 1 >sum; end=\$(date +%s%N)
      echo \$(((end - begin) / 1000000))'" </dev/null >>"$stage/$1"
    expect_equal "the sum" "sum $((ranks * (ranks + 1) / 2))" "$(on_login 'cat sum')"
    echo "$1-$i $(on_login 'sort -n hosts' | awk '{ print $2 }' | paste -sd,)" >>"$stage/jobs.$1"
  done
}
median() { sort -n "$stage/$1" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
report() {
  printf 'all-reduce %s, %s ranks, %d floats, %s: median %s ms (n=%d), %s crossings of leaves\n' "$slurm" "$ranks" \
    "$floats" "$2" "$(median "$1")" "$runs" "$("$ESPALIER_BUILD/espalier" topology score --source csv=$stage/truth.csv \
      --jobs "$stage/jobs.$1" | sed -n 's/^leaf crossings of its ranks *//p')"
}

scattered_fabric ml.p5.48xlarge "$nodes" 4 >$stage/fabric.yaml
start_service --fabric $stage/fabric.yaml >/dev/null
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge "$nodes" gpu)" >/dev/null
wait_until 120 nodes_in idle "$nodes" >/dev/null
wait_until 30 topology_is_true >/dev/null
slurm=$(slurm_version)
truth >$stage/truth.csv
build_fabric
cp "${BASH_SOURCE[0]%/*}/ring.pl" $state/volumes/*/home/ubuntu/
occupy_half gpu >/dev/null
run ours
without_topology
run none
report ours "our topology"
report none "no topology"
awk -v a="$(median none)" -v b="$(median ours)" -v s="$slurm" 'BEGIN { printf "all-reduce %s: %.2f times as long without\n", s, a / b }'
