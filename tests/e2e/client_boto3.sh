#!/usr/bin/env bash
# boto3 runs the scenario of tests/clients.
. "$(dirname "$0")/lib.sh"

run_client python3 /mnt/scenario/run.py boto3
