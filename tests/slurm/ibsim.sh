#!/bin/bash
# The real ibnetdiscover on a simulated InfiniBand subnet, and what `espalier topology` makes of it.
#
# Three units of four hosts with two rails, two spines a rail, and a server on a spine; then a cable breaks. Needs root,
# ESPALIER_BUILD, and Debian's ibsim-utils and infiniband-diags.
set -euo pipefail
# ibsim and its clients meet at abstract sockets, which belong to a network namespace.
[ -n "${ESPALIER_IBSIM_INSIDE:-}" ] ||
  exec env ESPALIER_IBSIM_INSIDE=1 unshare --net --mount --pid --fork --kill-child --mount-proc "$0"
espalier=$(realpath "$ESPALIER_BUILD/espalier")
mount -t tmpfs tmpfs /mnt
cd /mnt
ulimit -n 4096  # ibsim makes a table of all descriptors

draw() {  # [HOST]: the subnet; HOST's cable on the first rail is broken. ibsim wants every cable at both its ends.
  local rail unit host
  {
    for rail in 1 2; do
      for unit in 1 2 3; do
        for host in 1 2 3 4; do
          [ "$rail-n$unit$host" = "1-${1:-}" ] || echo "leaf-$unit-$rail;$host;n$unit$host HCA-$rail;1"
        done
        echo "leaf-$unit-$rail;9;spine-$rail-1;$unit"
        echo "leaf-$unit-$rail;10;spine-$rail-2;$unit"
      done
      echo "spine-$rail-1;10;core;$((rail * 2 - 1))"
      echo "spine-$rail-2;10;core;$((rail * 2))"
    done
    echo "spine-1-1;9;ufm HCA-1;1"
  } | awk -F';' '
    { ports[$1] = ports[$1] sprintf("[%d]\t\"%s\"[%d]\n", $2, $3, $4); ports[$3] = ports[$3] sprintf("[%d]\t\"%s\"[%d]\n", $4, $1, $2) }
    END { for (name in ports) printf "%s\t%d \"%s\"\n%s\n", name ~ /HCA/ ? "Hca" : "Switch", name ~ /HCA/ ? 1 : 16, name, ports[name] }'
}
discover() {  # what the tool prints for the subnet of the file net
  local simulator
  ibsim -s net < <(sleep 600) >ibsim.log 2>&1 &
  simulator=$!
  for _ in $(seq 10); do
    # Before ibsim listens, it waits for ever.
    timeout 3 env LD_PRELOAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so ibnetdiscover >found 2>discover.log &&
      grep -q '^Ca' found && break
    sleep 0.1
  done
  kill $simulator || { cat ibsim.log >&2; return 1; }
  wait $simulator 2>/dev/null || true
}
plan() { "$espalier" topology plan --source ibnetdiscover=found --nodes 'n[11-14,21-24,31-34]' 2>/dev/null | grep Nodes=; }

expected='SwitchName=leaf-1-1 Nodes=n[11-14]
SwitchName=leaf-2-1 Nodes=n[21-24]
SwitchName=leaf-3-1 Nodes=n[31-34]'
for broken in "" n12 n33; do
  draw "$broken" >net
  discover
  diff <(echo "$expected") <(plan) || { echo "FAILED with the cable of '$broken' broken"; tail -3 ibsim.log discover.log; exit 1; }
  echo "$(grep -c '^Switch' found) switches, $(grep -c '^Ca' found) adapters${broken:+, the cable of $broken broken}: as it is"
done
