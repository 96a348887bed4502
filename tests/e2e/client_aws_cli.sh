#!/usr/bin/env bash
# The AWS CLI runs the scenario of tests/clients, and the model that it is made from says what shapes.json says.
. "$(dirname "$0")/lib.sh"

cp "$repository/tests/clients/model.py" "$repository/src/api/shapes.json" $stage/files/
in_client python3 /mnt/scenario/model.py /mnt/scenario/shapes.json \
  /usr/lib/python3/dist-packages/awscli/botocore/data/sagemaker/2017-07-24/service-2.json
run_client python3 /mnt/scenario/run.py aws
