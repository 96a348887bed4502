#!/usr/bin/env bash
# `espalier serve --provider sim` with the command line as its client: a cluster of 200 nodes grows, waits for a pool,
# is scaled and deleted, without root and without a machine.
set -euo pipefail
state=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
  rm -rf "$state"
}
trap finish EXIT

esp() { "$ESPALIER_BUILD/espalier" --endpoint "$endpoint" "$@"; }
start() {
  "$ESPALIER_BUILD/espalier" serve --provider sim --sim-speed 100 --state "$state" --listen 127.0.0.1:0 2>"$state/log" &
  server=$!
  for _ in $(seq 300); do
    endpoint=$(grep -om1 'http://127.0.0.1:[0-9]*' "$state/log") && return
    sleep 0.1
  done
  echo "it does not start:"; cat "$state/log"; exit 1
}
stop() {
  kill "$server"
  wait "$server"
  server=
}
ids() { esp nodes c --json | jq -r '.. | .InstanceId? // empty' | sort; }
made_anew() { [ "$(ready)" = 201 ] && [ -z "$(comm -12 "$state/ids" <(ids))" ]; }
ready() { esp cluster describe c --json | jq '[.InstanceGroups[] | .CurrentCount] | add'; }
expect() {  # WHAT WANTED GOT
  [ "$2" = "$3" ] || { echo "$1: wanted $2, got $3"; tail -20 "$state/log"; exit 1; }
}

refused=$("$ESPALIER_BUILD/espalier" serve --provider sim --state "$state" --s3-root "$state" 2>&1) && exit 1
grep -e '--s3-root.*real machines' <<<"$refused" >/dev/null

start
esp status | grep -e "machines from 'sim'\.\$" >/dev/null
esp capacity set ml.p5.48xlarge=150 >"$state/out"
esp cluster create c --no-login --group name=gpu,type=ml.p5.48xlarge,count=200,partition=gpu --no-wait >"$state/out"
for _ in $(seq 600); do [ "$(ready)" = 151 ] && break; sleep 0.1; done
expect "controller and what the pool has" 151 "$(ready)"
esp explain c gpu-200 | grep 'capacity' >/dev/null
esp capacity set ml.p5.48xlarge=unlimited >"$state/out"
esp cluster scale c gpu=200 --wait --timeout 60s >"$state/out"
expect "all of them" 201 "$(ready)"
esp topology show c --file | grep "^SwitchName=.*Nodes=gpu" >/dev/null

# Another process has another cloud: everything is made anew.
ids >"$state/ids"
expect "machines" 201 "$(wc -l <"$state/ids")"
stop
start
for _ in $(seq 600); do made_anew && break; sleep 0.1; done
made_anew || { echo "they are not made anew"; esp nodes c | head; exit 1; }
esp cluster delete c --wait --timeout 60s >"$state/out"
stop
