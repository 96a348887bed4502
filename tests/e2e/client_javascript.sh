#!/usr/bin/env bash
# The official JavaScript client runs the scenario of tests/clients.
. "$(dirname "$0")/lib.sh"

[ -d "$repository/tests/clients/node/node_modules" ] || fail "the JavaScript client is absent: run tests/clients/install.sh"
run_client node --no-warnings /mnt/scenario/node/run.mjs
