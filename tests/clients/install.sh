#!/usr/bin/env bash
# Installs the official JavaScript client as the lock file has it, unless that is done. Uses npm's own settings.
set -euo pipefail
cd "$(dirname "$0")/node"
cmp -s package-lock.json node_modules/.installed && exit 0
echo "== installing the JavaScript client with npm, some seconds" >&2
npm ci --silent
cp package-lock.json node_modules/.installed
