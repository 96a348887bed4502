#!/usr/bin/env bash
# What leaving out levels without a choice saves slurmctld: its own time to start and to reconfigure with our file, and
# with a naive one that has a switch for every network node of every layer. A real slurmctld, ESPALIER_NODES nodes (5000)
# without machines, leaves of 15 that are scattered over as many spines as in a cloud, where many spines have one leaf.
. "$(dirname "$0")/../e2e/lib.sh"
nodes=${ESPALIER_NODES:-5000}
root=$stage/root

awk -v n="$nodes" 'BEGIN { srand(1); leaves = int((n + 14) / 15)
  for (leaf = 0; leaf < leaves; leaf++) spine[leaf] = int(rand() * leaves)
  for (i = 0; i < n; i++) { leaf = int(i / 15)
    printf "n%d,core-%d/spine-%d/leaf-%d\n", i + 1, spine[leaf] % 20, spine[leaf], leaf } }' >$stage/truth.csv
naive() {
  awk -F'[,/]' '{ nodes[$4] = nodes[$4] "," $1; if (!leaf[$4]++) spines[$3] = spines[$3] "," $4
    if (!spine[$3]++) cores[$2] = cores[$2] "," $3; if (!core[$2]++) all = all "," $2 }
    END { print "SwitchName=fabric Switches=" substr(all, 2)
      for (c in cores) print "SwitchName=" c " Switches=" substr(cores[c], 2)
      for (s in spines) print "SwitchName=" s " Switches=" substr(spines[s], 2)
      for (l in nodes) print "SwitchName=" l " Nodes=" substr(nodes[l], 2) }' $stage/truth.csv
}
# enter IMAGE: a machine of one controller, without the product.
enter() {
  rm -rf $stage/upper $stage/work
  mkdir -p $root $stage/{upper,work}
  mount -t overlay -o "lowerdir=$1,upperdir=$stage/upper,workdir=$stage/work" overlay $root
  mount -t proc proc $root/proc
  mount --rbind /dev $root/dev
  mount -t tmpfs tmpfs $root/run
  mkdir -p $root/run/{munge,slurm}
  chroot $root sh -c 'head -c 1024 /dev/urandom >/etc/munge/munge.key; chown -R munge /etc/munge /run/munge
    chmod -R go= /etc/munge; setpriv --reuid munge --clear-groups munged' 2>/dev/null
  cat >$root/etc/slurm/slurm.conf <<END
ClusterName=load
SlurmctldHost=$(hostname)(10.77.0.2)
SlurmUser=root
StateSaveLocation=/run/state
SlurmctldLogFile=/run/slurmctld.log
SlurmctldPidFile=/run/slurmctld.pid
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
MpiDefault=none
MessageTimeout=100
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=99999999
NodeName=n[1-$nodes] NodeAddr=0.0.0.0 CPUs=192 RealMemory=2097152 State=CLOUD
PartitionName=dev Nodes=n[1-$nodes] Default=YES State=UP
END
}
leave() {
  pkill -KILL munged
  umount -l $root
}
since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'; }
pings() { chroot $root scontrol ping | grep -q UP; }
# Processor seconds of slurmctld so far: the machine's other load does not count.
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$(<$root/run/slurmctld.pid)/stat"; }
# measure SLURM NAME FILE
measure() {
  local begin started
  rm -rf $root/run/state $root/etc/slurm/topology.*
  cp "$3" $root/etc/slurm/
  begin=$EPOCHREALTIME
  chroot $root slurmctld
  wait_until 300 pings >/dev/null
  started=$(since "$begin")
  printf 'topology load %s, %d nodes, %s file of %d switches: started in %s s (processor %.2f s)' "$1" "$nodes" "$2" \
    "$(grep -ciE 'SwitchName=|- switch:' "$3")" "$started" "$(cpu)"
  begin=$EPOCHREALTIME
  timeout 300 chroot $root scontrol reconfigure 2>/dev/null || printf ', scontrol gave up'  # after MessageTimeout
  wait_until 300 pings >/dev/null
  printf ', reconfigured in %s s (%.2f s)\n' "$(since "$begin")" "$(cpu)"
  chroot $root scontrol shutdown >/dev/null 2>&1
  wait_until 60 is_down >/dev/null
}
is_down() { ! pings; }

ip link add eth0 type bridge
ip addr add 10.77.0.2/16 dev eth0
ip link set eth0 up
for image in "$ESPALIER_NODE_IMAGE" "${ESPALIER_NODE_IMAGE_26_05:-}"; do
  [ -n "$image" ] || continue
  enter "$image"
  version=$(chroot $root slurmctld -V | grep -oE '[0-9]+\.[0-9]+' | head -1)
  case $version in 2[0-4].*) ending=conf ;; *) ending=yaml ;; esac
  "$ESPALIER_BUILD/espalier" topology plan --source csv=$stage/truth.csv --slurm "$version" >$stage/topology.$ending 2>/dev/null
  mkdir -p $stage/naive
  naive >$stage/naive/topology.conf
  measure "$version" our $stage/topology.$ending
  measure "$version" naive $stage/naive/topology.conf
  leave
done
