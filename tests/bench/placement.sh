#!/usr/bin/env bash
# Where real Slurm puts jobs with our topology, asked with and without -p, and with none: the same seeded mix of jobs on
# the same half-full cluster of ESPALIER_NODES nodes (64): p5, or UltraServers with ESPALIER_KIND=block.
# Measured by `espalier topology score` on where the machines truly hang.
. "$(dirname "$0")/../e2e/lib.sh"
nodes=${ESPALIER_NODES:-64} jobs=${ESPALIER_JOBS:-12} kind=${ESPALIER_KIND:-tree}

# sizes MOST: log-uniform from 2 to MOST, seeded.
sizes() { awk -v most="$1" -v n="$jobs" 'BEGIN { srand(7); for (i = 0; i < n; i++) print int(2 * exp(rand() * log(most / 2)) + 0.5) }'; }

# mix ARM OPTIONS: every job alone on the half that is free; "ID HOST,…" in the order of ranks.
mix() {
  local number=0 size
  while read -r size; do
    number=$((number + 1))
    echo "$number $(ranks "--exclusive -N$size $2")" >>"$stage/jobs.$1"
  done <$stage/sizes
}
# figure ARM NAME: of the score's table.
figure() { sed -n "s/^ *$2  *//p" "$stage/score.$1"; }
report() {  # ARM TEXT
  "$ESPALIER_BUILD/espalier" topology score --source csv=$stage/truth.csv --jobs "$stage/jobs.$1" >"$stage/score.$1"
  printf 'placement %s, %s, %d jobs on half of %d nodes: %s leaves a job (least %s), %s hops, %s crossings%s\n' "$slurm" \
    "$2" "$jobs" "$(wc -l <$stage/truth.csv)" "$(figure "$1" 'leaves per job')" "$(figure "$1" 'least possible')" \
    "$(figure "$1" 'mean hops between its nodes')" "$(figure "$1" 'leaf crossings of its ranks')" \
    "$([ "$kind" = tree ] || echo ", $(figure "$1" 'jobs in one NVLink domain') in one NVLink domain")"
}
topology_is_settled() { esp topology show "$cluster" --json | jq -e .True; }

case $kind in
  tree) type=ml.p5.48xlarge unit=8 most=$((nodes / 2)) domain= ;;
  block) type=ml.p6e-gb200.36xlarge unit=18 most=16 domain=nvl nodes=$((nodes / 18 * 18)) ;;
esac
scattered_fabric "$type" "$nodes" "$unit" "$domain" >$stage/fabric.yaml
start_service --fabric $stage/fabric.yaml >/dev/null
create_cluster "$(head_groups)" "$(group fast Compute "$type" "$nodes" gpu)" "$(group c5 Compute ml.c5.4xlarge 2 cpu)" >/dev/null
wait_until 300 nodes_in idle $((nodes + 2)) >/dev/null
wait_until 30 topology_is_settled >/dev/null
slurm=$(slurm_version)
truth >$stage/truth.csv
sizes "$most" >$stage/sizes
occupy_half gpu >/dev/null
mix with "-p gpu"
mix without "--gpus-per-node=1"
without_topology
mix none "-p gpu"
report with "ours ($kind), with -p"
report without "ours ($kind), without -p"
report none "no topology"
