#!/usr/bin/env bash
# Makes the client image: Debian forky with the AWS CLI 2, boto3 and Node.js, for the tests that drive Espalier as its
# users do.
# usage: images/client-image.sh OUT_DIR      root, half a minute, 600 MB
# OUT_DIR appears whole or not at all. Two at once: the second waits, and finds it made.
set -euo pipefail
out=$(realpath -m "${1:?usage: images/client-image.sh OUT_DIR}")
[ "$(id -u)" = 0 ] || { echo "client-image.sh: making an image needs root" >&2; exit 1; }
mkdir -p "$(dirname "$out")"
exec 9>"$out.lock"
flock 9
[ ! -d "$out" ] || exit 0

# The mirror that this host itself uses for Debian.
# shellcheck disable=SC2016  # apt expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -1)
[ -n "$mirror" ] || { echo "client-image.sh: apt knows no Debian mirror: run apt-get update" >&2; exit 1; }

rm -rf "$out.part"
trap 'rm -rf "$out.part"' EXIT
# Forky is not released: its Release file may be older than the date that it is said to be valid until.
mmdebstrap --variant=minbase --include=awscli,nodejs,python3-boto3 --aptopt='Acquire::Check-Valid-Until "false"' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  forky "$out.part" "$mirror"
mkdir -p "$out.part/mnt/scenario"
mv "$out.part" "$out"
