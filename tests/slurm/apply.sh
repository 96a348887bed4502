#!/bin/bash
# `espalier topology apply` and `watch` on a real Slurm that Espalier did not create.  usage: apply.sh IMAGE
#
# A slurmctld of IMAGE runs alone in namespaces, with a topology that somebody wrote by hand. Needs root, and
# ESPALIER_BUILD. IMAGE stays as it is.
set -euo pipefail
[ $# = 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
[ -n "${ESPALIER_APPLY_INSIDE:-}" ] ||
  exec env ESPALIER_APPLY_INSIDE=1 unshare --mount --uts --pid --net --ipc --fork --kill-child --mount-proc "$0" "$@"

image=$(realpath "$1") espalier=$(realpath "$ESPALIER_BUILD/espalier") root=/mnt/root
fail() { printf 'FAILED: %s\n' "$1" >&2; tail -5 $root/var/log/slurm/slurmctld.log >&2; exit 1; }
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir -p /mnt/{up,work,root,etc-up,etc-work,bin}
mount -t overlay overlay -o "lowerdir=$image,upperdir=/mnt/up,workdir=/mnt/work" $root
mount -t proc proc $root/proc
mkdir -p $root/run/munge $root/run/slurm $root/var/log/slurm $root/var/spool/slurmctld $root/etc/slurm
chroot $root chown munge:munge /run/munge
chroot $root chown slurm:slurm /var/log/slurm /var/spool/slurmctld /run/slurm
[ -c $root/dev/null ] || mknod -m 666 $root/dev/null c 1 3
[ -c $root/dev/urandom ] || mknod -m 666 $root/dev/urandom c 1 9
hostname foreign
ip link set lo up
ip link add up0 type bridge
ip address add 10.77.0.2/24 dev up0
ip link set up0 up
echo "127.0.0.1 localhost foreign" >$root/etc/hosts
head -c 1024 /dev/urandom >$root/etc/munge/munge.key
chroot $root chown munge:munge /etc/munge/munge.key
chmod 400 $root/etc/munge/munge.key
# Slurm's folder and scontrol are where the command looks for them.
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/etc-up,workdir=/mnt/etc-work /etc
mkdir -p /etc/slurm
mount --bind $root/etc/slurm /etc/slurm
printf '#!/bin/sh\nexec chroot %s scontrol "$@"\n' $root >/mnt/bin/scontrol
chmod +x /mnt/bin/scontrol
export PATH=/mnt/bin:$PATH

cat >/etc/slurm/slurm.conf <<'EOF'
ClusterName=foreign
SlurmctldHost=foreign(10.77.0.2)
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
TopologyPlugin=topology/tree
TopologyParam=SwitchAsNodeRank
NodeName=old[1-2],n[1-4] NodeAddr=0.0.0.0 CPUs=4 State=CLOUD
PartitionName=dev Nodes=old[1-2],n[1-4] Default=YES State=UP
EOF
cat >/etc/slurm/topology.conf <<'EOF'
SwitchName=hall Nodes=old[1-2]
SwitchName=later Nodes=n[1-4]
SwitchName=all Switches=hall,later
EOF
rm -f /etc/slurm/topology.yaml
chroot $root runuser -u munge -- munged
chroot $root slurmctld
for _ in $(seq 300); do scontrol ping 2>/dev/null | grep -q 'is UP' && break; sleep 0.1; done

topology() { "$espalier" topology "$@" --source csv=/mnt/paths.csv --state /mnt/state.json 2>&1; }
leaf() {  # of a node, as slurmctld has it
  scontrol show topology | sed -nE 's/^SwitchName=([^ ]+) Level=0 .*Nodes=([^ ]+).*/\1 \2/p' |
    while read -r leaf nodes; do scontrol show hostnames "$nodes" | grep -qx "$1" && echo "$leaf"; done || true
}
expect() { [ "$2" = "$3" ] || fail "$1: '$3' instead of '$2'"; }

printf 'n[1-2],core/leaf-1\nn[3-4],core/leaf-2\n' >/mnt/paths.csv
said=$(topology apply) || fail "$said"
echo "$said"
expect "n1" leaf-1 "$(leaf n1)"
expect "n4" leaf-2 "$(leaf n4)"
expect "a node of a switch written by hand" hall "$(leaf old1)"

echo "the same again is not sent"
before=$(stat -c %Y.%i /etc/slurm/topology.*)
said=$(topology apply) || fail "$said"
grep -q 'slurmctld has it' <<<"$said" || fail "$said"
expect "the files" "$before" "$(stat -c %Y.%i /etc/slurm/topology.*)"

echo "a node moves"
printf 'n[1-3],core/leaf-1\nn4,core/leaf-2\n' >/mnt/paths.csv
topology watch --rounds 2 --interval 100ms
expect "n3" leaf-1 "$(leaf n3)"

echo "a source that is away, or knows half, leaves what was known"
rm /mnt/paths.csv
topology watch --rounds 1
expect "n3" leaf-1 "$(leaf n3)"
printf 'n1,core/leaf-1\n' >/mnt/paths.csv
topology apply
expect "n4" leaf-2 "$(leaf n4)"

echo "other hands"
case $(scontrol --version) in
  *24.11*) printf 'SwitchName=hall Nodes=old[1-2]\nSwitchName=wrong Nodes=n[1-4]\n' >/etc/slurm/topology.conf && scontrol reconfigure ;;
  *) scontrol update NodeName=n4 Topology=tree:fabric:leaf-1 ;;
esac
topology apply
expect "n4" leaf-2 "$(leaf n4)"
expect "old1" hall "$(leaf old1)"

echo "the unit's own command keeps it true, as a daemon"
# Of ExecStart another source and interval, and the folder of this test.
unit=$(sed -n '/^ExecStart=/,/[^\\]$/p' "$(dirname "$0")/../../packaging/espalier-topology.service" |
  sed 's/^ExecStart=//; s/\\$//' | tr -d '\n')
unit=${unit/\/usr\/bin\/espalier/$espalier}
unit=${unit/ibnetdiscover=|ibnetdiscover/csv=/mnt/paths.csv}
unit=${unit/60s/200ms}
eval "exec ${unit/\/var\/lib\/espalier-topology/\/mnt}" >/mnt/watch.log 2>&1 &
daemon=$!
soon() {  # COMMAND…: within 10 s
  local try
  for ((try = 0; try < 100; try++)); do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "not within 10 s: $*: $(cat /mnt/watch.log)"
}
is_on() { [ "$(leaf "$1")" = "$2" ]; }
says() { grep -q "$1" /mnt/watch.log; }
printf 'n1,core/leaf-1\nn[2-4],core/leaf-2\n' >/mnt/paths.csv
soon is_on n2 leaf-2
scontrol reconfigure
expect "n2 by the file" leaf-2 "$(leaf n2)"
expect "a switch written by hand" hall "$(leaf old1)"
rm /mnt/paths.csv
soon says '/mnt/paths.csv.*No such file'
printf 'n[1-4,core/leaf-7\nn2\n' >/mnt/paths.csv
sleep 1
expect "n1, of a source that is broken" leaf-1 "$(leaf n1)"
expect "n2, of a source that is broken" leaf-2 "$(leaf n2)"
printf 'n[1-3],core/leaf-1\nn4,core/leaf-2\n' >/mnt/paths.csv
soon is_on n2 leaf-1
kill -TERM $daemon
wait $daemon || fail "SIGTERM ends it with $?: $(cat /mnt/watch.log)"
kill -0 $daemon 2>/dev/null && fail "it still runs"
expect "old2 in the end" hall "$(leaf old2)"

echo "what slurmctld refuses is taken back"
before=$(cat /etc/slurm/topology.*)
echo "JobCompType=jobcomp/nosuch" >>/etc/slurm/slurm.conf
printf 'n[1-2],top/core-1/leaf-1\nn[3-4],top/core-2/leaf-9\nold1,top/core-2/leaf-8\n' >/mnt/paths.csv
if said=$(topology apply); then fail "it was not refused: $said"; fi
echo "$said"
grep -q "are back" <<<"$said"
expect "the files" "$before" "$(cat /etc/slurm/topology.*)"
scontrol ping | grep -q 'is UP'
sed -i '/JobCompType/d' /etc/slurm/slurm.conf
topology apply
expect "old1" leaf-8 "$(leaf old1)"
expect "n4, whose leaf is only called otherwise now" leaf-2 "$(leaf n4)"
! grep -E 'fatal|error: .*([Tt]opology|[Ss]witch)' $root/var/log/slurm/slurmctld.log | grep -v -i jobcomp || fail "slurmctld complained"
echo 'all right'
