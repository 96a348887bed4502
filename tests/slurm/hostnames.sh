#!/bin/bash
# What Slurm makes of host lists.  usage: hostnames.sh IMAGE < LISTS
#
# For each line of LISTS: the names of `scontrol show hostnames` in one line, or "refused". Needs root.
# shellcheck disable=SC2016,SC2086  # the inner shell expands, word by word
set -euo pipefail
[ $# = 1 ] || {
  sed -n '2s/^# //p' "$0" >&2
  exit 2
}
[ -n "${ESPALIER_HOSTNAMES_INSIDE:-}" ] || exec env ESPALIER_HOSTNAMES_INSIDE=1 unshare --mount "$0" "$@"

mount --make-rprivate /
mount -t tmpfs tmpfs "$1/tmp"
printf 'ClusterName=x\nSlurmctldHost=x\nNodeName=x\nPartitionName=x Nodes=x\n' >"$1/tmp/slurm.conf"
cat >"$1/tmp/lists"
exec chroot "$1" env SLURM_CONF=/tmp/slurm.conf bash -c '
  while IFS= read -r list; do
    if names=$(scontrol show hostnames "$list" 2>/dev/null) && [ -n "$names" ]; then echo $names; else echo refused; fi
  done </tmp/lists'
