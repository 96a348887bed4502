#!/usr/bin/env bash
# All figures, in one run on one machine: the floor beside the product, then the benchmarks of single rooms.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
build=${ESPALIER_BUILD:-$here/../../build/release}

for nodes in 8 100; do
  printf 'floor %3d nodes: ' "$nodes"
  "$here/floor.sh" "$ESPALIER_NODE_IMAGE" "$nodes"
  ESPALIER_BUILD=$build ESPALIER_NODES=$nodes "$here/grow.sh"
done
ESPALIER_BUILD=$build "$here/latency.sh"
ESPALIER_BUILD=$build "$here/isolation.sh"
ESPALIER_BUILD=$build "$here/repair.sh"
for bench in "$build"/*_bench; do
  [ ! -x "$bench" ] || "$bench"
done
