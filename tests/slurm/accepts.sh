#!/bin/bash
# Does a real slurmctld take this topology file?  usage: accepts.sh IMAGE TOPOLOGY_FILE HOSTLIST [FUTURE_HOSTLIST]
#
# IMAGE: a node image with any Slurm. TOPOLOGY_FILE: a topology.conf, or, when its name ends in .yaml, a topology.yaml.
# Starts slurmctld alone, in namespaces of its own, with HOSTLIST declared as absent cloud nodes and FUTURE_HOSTLIST as
# names to come, and prints what `scontrol show topology` says (of a topology.yaml: `scontrol show topoconf`). Exit 1
# with slurmctld's reasons on standard error when it refuses the file or has something to say about it; 2 when it could
# not be asked. Needs root. IMAGE stays as it is: all is written to an overlay.
# shellcheck disable=SC2015,SC2251  # the usage of a wrong call; `! reasons` is the exit code
set -euo pipefail
[ $# = 3 ] || [ $# = 4 ] && chroot "$1" sh -c "command -v slurmctld" >/dev/null && [ -f "$2" ] || {
  sed -n '2s/^# //p' "$0" >&2
  exit 2
}

if [ -z "${ESPALIER_ACCEPTS_INSIDE:-}" ]; then
  exec env ESPALIER_ACCEPTS_INSIDE=1 unshare --mount --uts --pid --net --ipc --fork --kill-child "$0" "$@"
fi

image=$(realpath "$1") file=$(realpath "$2") hosts=$3 future=${4:-}
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir /mnt/{up,work,root}
mount -t overlay overlay -o "lowerdir=$image,upperdir=/mnt/up,workdir=/mnt/work" /mnt/root
cd /mnt/root
mount -t proc proc proc
mkdir -p run/munge run/slurm var/log/slurm var/spool/slurmctld
chroot . chown munge:munge /run/munge
chroot . chown slurm:slurm /var/log/slurm /var/spool/slurmctld
[ -c dev/null ] || mknod -m 666 dev/null c 1 3
[ -c dev/urandom ] || mknod -m 666 dev/urandom c 1 9

# slurmctld opens no port where there is nothing but loopback.
hostname accepts
ip link set lo up
ip link add up0 type bridge
ip address add 10.77.0.2/24 dev up0
ip link set up0 up
echo "127.0.0.1 localhost accepts" >etc/hosts

head -c 1024 /dev/urandom >etc/munge/munge.key
chroot . chown munge:munge /etc/munge/munge.key
chmod 400 etc/munge/munge.key
rm -rf etc/slurm/*
kind=conf show=topology plugin=topology/tree
case $file in *.yaml) kind=yaml show=topoconf ;; esac
cp "$file" etc/slurm/topology.$kind
! grep -qi '^ *BlockName=' "$file" || plugin=topology/block
cat >etc/slurm/slurm.conf <<EOF
ClusterName=accepts
SlurmctldHost=accepts(10.77.0.2)
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmctldLogFile=/var/log/slurm/slurmctld.log
MailProg=/bin/true
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=99999999
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=$plugin
NodeName=$hosts NodeAddr=0.0.0.0 CPUs=4 State=CLOUD
${future:+NodeName=$future State=FUTURE}
PartitionName=dev Nodes=$hosts Default=YES State=UP
EOF

chroot . runuser -u munge -- munged
chroot . slurmctld -D >/dev/null 2>&1 &
slurmctld=$!
log=var/log/slurm/slurmctld.log
# Among several topologies, blocks need not hold every node.
expected='^$'
[ $kind = conf ] || expected='Blocks lack access'
reasons() { grep -vE "$expected" "$log" | grep -E 'fatal:|(error|warning): .*([Tt]opology|[Ss]witch|[Bb]lock|hierarchy|leaf)' >&2; }

for _ in $(seq 500); do
  grep -q 'Running as primary controller' "$log" 2>/dev/null && break
  kill -0 $slurmctld 2>/dev/null || break
  sleep 0.02 # it is starting
done
if kill -0 $slurmctld 2>/dev/null && shown=$(timeout 10 chroot . scontrol show "$show" 2>/dev/null); then
  printf '%s\n' "$shown"
  ! reasons
  exit
fi
reasons || { tail -n 5 "$log" >&2; exit 2; }
exit 1
