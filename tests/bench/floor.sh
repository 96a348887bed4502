#!/usr/bin/env bash
# The floor under every figure of ours: how long the same real daemons need when they are started by hand and nothing
# else is done. A controller and NODES workers, each with munged, in namespaces on one bridge.
# usage: floor.sh IMAGE NODES      root; IMAGE as images/node-image.sh makes it
# prints: up SECONDS (first command until all nodes are idle) job SECONDS (srun over all of them)
set -euo pipefail

# All of it happens in namespaces of its own, on a tmpfs of its own: when this script ends, however, the kernel cleans up.
if [ "${1:-}" != --inside ]; then
  image=$(realpath -e "${1:?usage: floor.sh IMAGE NODES}")
  exec unshare --net --mount --pid --ipc --fork --kill-child --mount-proc "$(readlink -f "$0")" --inside "$image" \
    "${2:?usage: floor.sh IMAGE NODES}"
fi
image=$2 nodes=$3
ip link set lo up
mount -t tmpfs tmpfs /mnt
mount -t tmpfs tmpfs /run  # ip keeps the names of network namespaces there

address() { echo "10.77.$((1 + $1 / 250)).$((1 + $1 % 250))"; }  # of worker n$1

# Layers between the image and each machine's own: what all share, and what only the controller has.
shared=/mnt/shared controller=/mnt/controller
mkdir -p $shared/etc/munge $controller/etc/slurm
head -c 1024 /dev/urandom >$shared/etc/munge/munge.key
chown -R "$(chroot "$image" id -u munge)" $shared/etc/munge
chmod -R go= $shared/etc/munge
{
  echo "127.0.0.1 localhost"
  echo "10.77.0.2 ctl"
  for i in $(seq "$nodes"); do echo "$(address "$i") n$i"; done
} >$shared/etc/hosts
cat >$controller/etc/slurm/slurm.conf <<END
ClusterName=floor
SlurmctldHost=ctl(10.77.0.2)
SlurmUser=root
StateSaveLocation=/run/slurmctld
SlurmdSpoolDir=/run/slurmd
SlurmctldParameters=enable_configless
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,bf_interval=1
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
MpiDefault=none
ReturnToService=2
NodeName=n[1-$nodes] CPUs=192 RealMemory=2097152 State=UNKNOWN
PartitionName=dev Nodes=n[1-$nodes] Default=YES State=UP
END
echo CgroupPlugin=disabled >$controller/etc/slurm/cgroup.conf
# Leaves of four under one spine, as the product's default fabric has them.
for i in $(seq 1 4 "$nodes"); do
  last=$((i + 3 < nodes ? i + 3 : nodes))
  echo "SwitchName=leaf$(((i + 3) / 4)) Nodes=n[$i-$last]"
done >$controller/etc/slurm/topology.conf
echo "SwitchName=spine Switches=leaf[1-$(((nodes + 3) / 4))]" >>$controller/etc/slurm/topology.conf

cable() {  # NAME ADDRESS: commands for ip
  cat <<END
netns add $1
link add $1 type veth peer name eth0 netns $1
link set $1 master br0 up
END
}
start() {  # NAME ADDRESS LAYERS COMMAND…: a machine; its first process ends up in /mnt/NAME/pid
  local name=$1 address=$2 layers=$3
  shift 3
  mkdir -p "/mnt/$name"/{upper,work,root}
  # shellcheck disable=SC2016  # the inner shell expands it
  ip netns exec "$name" unshare --mount --uts --ipc --pid --fork bash -c '
    name=$1 address=$2 layers=$3 root=/mnt/$1/root
    shift 3
    hostname "$name"
    ip -batch - <<<"link set lo up
addr add $address/16 dev eth0
link set eth0 up"
    mount -t overlay -o "lowerdir=$layers,upperdir=/mnt/$name/upper,workdir=/mnt/$name/work" overlay "$root"
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/run"
    mount --rbind /dev "$root/dev"
    mkdir -p "$root"/run/{munge,slurm,slurmd,slurmctld}
    chown --reference="$root/etc/munge" "$root/run/munge"
    exec chroot "$root" bash -c "setpriv --reuid munge --regid munge --clear-groups munged && exec \"\$@\"" - "$@"
  ' - "$name" "$address" "$layers" "$@" </dev/null >"/mnt/$name/log" 2>&1 &
  echo $! >"/mnt/$name/unshare"
}
on_controller() {
  local unshare first
  read -r unshare </mnt/ctl/unshare
  read -r first _ <"/proc/$unshare/task/$unshare/children"
  nsenter -t "$first" -a chroot /mnt/ctl/root "$@"
}
give_up() { echo "floor.sh: $1; the end of its log:" >&2; tail -5 "$2" >&2; exit 1; }

begin=$(date +%s%N)
{
  echo "link add br0 type bridge"
  echo "addr add 10.77.0.1/16 dev br0"
  echo "link set br0 up"
  cable ctl
  for i in $(seq "$nodes"); do cable "n$i"; done
} | ip -batch -
start ctl 10.77.0.2 "$controller:$shared:$image" slurmctld -D
deadline=$((SECONDS + 120))
until (: </dev/tcp/10.77.0.2/6817) 2>/dev/null; do
  [ $SECONDS -lt $deadline ] || give_up "slurmctld does not answer" /mnt/ctl/log
  sleep 0.01
done
for i in $(seq "$nodes"); do start "n$i" "$(address "$i")" "$shared:$image" slurmd -D --conf-server ctl:6817; done
until [ "$(on_controller sinfo -h -t idle -o %D 2>/dev/null)" = "$nodes" ]; do
  [ $SECONDS -lt $deadline ] || give_up "not all nodes became idle" /mnt/n1/log
  sleep 0.05
done
up=$(date +%s%N)
on_controller srun -N"$nodes" hostname >/mnt/hosts || give_up "the job failed" /mnt/ctl/log
finished=$(date +%s%N)
[ "$(sort -u /mnt/hosts | wc -l)" = "$nodes" ] || give_up "the job did not run on every node" /mnt/hosts
awk -v a="$begin" -v b="$up" -v c="$finished" 'BEGIN { printf "up %.2f job %.2f\n", (b - a) / 1e9, (c - b) / 1e9 }'
