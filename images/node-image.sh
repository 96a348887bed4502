#!/usr/bin/env bash
# Makes the node image: the read-only root file system of every machine of the local provider, a Debian with Slurm.
# usage: images/node-image.sh OUT_DIR [SLURM]      root, 20 seconds, 200 MB; SLURM: 24.11 (trixie) or 26.05 (forky)
# OUT_DIR appears whole or not at all. Two at once: the second waits, and finds it made. OUT_DIR/etc/espalier-image
# says which Slurm and which script it is from.
set -euo pipefail
out=$(realpath -m "${1:?usage: images/node-image.sh OUT_DIR [SLURM]}")
slurm=${2:-24.11}
case $slurm in
  24.11) suite=trixie apt=() ;;
  # Forky is not released: its Release file may be older than the date that it is said to be valid until.
  26.05) suite=forky apt=(--aptopt='Acquire::Check-Valid-Until "false"') ;;
  *) echo "node-image.sh: there is no image with Slurm $slurm: 24.11 and 26.05 can be made" >&2; exit 1 ;;
esac
[ "$(id -u)" = 0 ] || { echo "node-image.sh: making an image needs root" >&2; exit 1; }
stamp="$slurm $(sha256sum <"$(readlink -f "$0")" | cut -c1-12)"
mkdir -p "$(dirname "$out")"
exec 9>"$out.lock"
flock 9
if [ -e "$out" ]; then
  [ "$(cat "$out/etc/espalier-image" 2>/dev/null)" != "$stamp" ] || exit 0
  echo "node-image.sh: $out is something else, or made by another version: remove it, or choose another name" >&2
  exit 1
fi

# The mirror that this host itself uses for Debian.
# shellcheck disable=SC2016  # apt expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -1)
[ -n "$mirror" ] || { echo "node-image.sh: apt knows no Debian mirror: run apt-get update" >&2; exit 1; }

part=$out.part
rm -rf "$part"
trap 'rm -rf "$part"' EXIT
packages=slurmctld,slurmd,slurm-client,slurm-wlm-basic-plugins,sackd,munge,iproute2,procps,hostname,less,util-linux
mmdebstrap --variant=minbase --include="$packages" "${apt[@]}" --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  "$suite" "$part" "$mirror"

# The ordinary user has the same ids everywhere; its home is on the volume that the machines of a cluster share.
chroot "$part" groupadd --gid 1000 ubuntu
chroot "$part" useradd --uid 1000 --gid 1000 --shell /bin/bash --home-dir /home/ubuntu --no-create-home ubuntu
# What differs from cluster to cluster comes with the machine, and plugstack.conf only logs an error at each start.
rm -rf "$part"/etc/slurm/plugstack.conf* "$part/etc/munge/munge.key" "$part/etc/machine-id"
rm -rf "$part"/var/lib/apt/lists/* "$part"/var/cache/apt/* "$part"/var/cache/debconf/*-old "$part"/var/log/*.log
# Names come from /etc/hosts alone; without a name server a look-up of an unknown name fails at once.
: >"$part/etc/resolv.conf"
: >"$part/etc/machine-id"
mkdir -p "$part/etc/slurm" "$part/var/spool/slurmctld" "$part/var/spool/slurmd" "$part/var/log/slurm"
chroot "$part" chown slurm:slurm /var/spool/slurmctld /var/log/slurm
chroot "$part" sh -c 'command -v slurmd sackd scontrol srun munged ip' >/dev/null
found=$(chroot "$part" slurmctld -V)
[[ $found == "slurm-wlm $slurm."* || $found == "slurm $slurm."* ]] ||
  { echo "node-image.sh: $suite has $found, not Slurm $slurm" >&2; exit 1; }
echo "$stamp" >"$part/etc/espalier-image"
mv "$part" "$out"
