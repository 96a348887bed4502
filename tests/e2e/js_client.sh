#!/usr/bin/env bash
# The official JavaScript client creates, follows, scales and deletes a cluster, in another region.
. "$(dirname "$0")/lib.sh"

[ -d "$repository/tests/clients/node/node_modules" ] || fail "the JavaScript client is absent: run tests/clients/install.sh"
cp -r "$repository/tests/clients/node/." $stage/files/
start_service
region=eu-central-1
in_client ESPALIER_ENDPOINT=$endpoint node --no-warnings /mnt/scenario/scenario.mjs
nothing_left
stop_service
