#!/bin/bash
# What Slurm makes of host lists.  usage: hostnames.sh IMAGE [hostnames|hostlistsorted] < LISTS
#
# For each line of LISTS, a line: the answer of `scontrol show hostnames` (or the other), its lines joined by blanks, or
# "refused". One scontrol answers all: thousands take a moment. Needs root.
# shellcheck disable=SC2016  # the inner shell expands
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || {
  sed -n '2s/^# //p' "$0" >&2
  exit 2
}
[ -n "${ESPALIER_HOSTNAMES_INSIDE:-}" ] || exec env ESPALIER_HOSTNAMES_INSIDE=1 unshare --mount "$0" "$@"

mount --make-rprivate /
mount -t tmpfs tmpfs "$1/tmp"
printf 'ClusterName=x\nSlurmctldHost=x\nNodeName=x\nPartitionName=x Nodes=x\n' >"$1/tmp/slurm.conf"
sed "s/^/show ${2:-hostnames} /" >"$1/tmp/questions"
# It repeats every question after its prompt, and prompts once more at the end.
chroot "$1" sh -c 'SLURM_CONF=/tmp/slurm.conf scontrol </tmp/questions 2>/dev/null' | awk '
  /^scontrol: / { if (asked) print answer == "" ? "refused" : answer; answer = ""; asked = 1; next }
  { answer = answer == "" ? $0 : answer " " $0 }'
