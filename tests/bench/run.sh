#!/usr/bin/env bash
# All figures, in one run on one machine: the floor beside the product, then the benchmarks of single rooms.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
export ESPALIER_BUILD=${ESPALIER_BUILD:-$here/../../build/release}

# One table for all namespaces, which cannot be set from within those of a bench (as `serve` itself does elsewhere).
sysctl -qw net.ipv4.neigh.default.gc_thresh{3=524288,2=262144,1=65536}
printf 'machine: %s processors, load %s\n' "$(nproc)" "$(cut -d' ' -f1-3 /proc/loadavg)"
for nodes in 8 100 200; do
  printf 'floor %3d nodes: ' "$nodes"
  "$here/floor.sh" "$ESPALIER_NODE_IMAGE" "$nodes"
  ESPALIER_NODES=$nodes "$here/grow.sh"
done
for bench in latency isolation repair; do "$here/$bench.sh"; done
for slurm in 24.11 26.05; do
  export ESPALIER_SLURM=$slurm
  for bench in pieces joins placement allreduce; do "$here/$bench.sh"; done
  ESPALIER_KIND=block "$here/placement.sh"
done
"$here/topology_load.sh"
for bench in "$ESPALIER_BUILD"/*_bench; do
  [ ! -x "$bench" ] || "$bench"
done
printf 'machine: load %s at the end\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
