#!/usr/bin/env bash
# The official clients come through a control plane that answers ServiceUnavailable and ThrottlingException first.
. "$(dirname "$0")/lib.sh"

cp -r "$repository/tests/clients/." $stage/files/
start_service
stumbling=http://127.0.0.1:8651
in_client python3 /mnt/scenario/stumble.py 8651 $endpoint >>$stage/attempts &
listens() { (exec 3<>/dev/tcp/127.0.0.1/8651) 2>/dev/null; }
wait_until 10 listens

# retries NAME COMMAND…: each of the two calls takes three attempts.
retries() {
  : >$stage/attempts
  in_client AWS_MAX_ATTEMPTS=3 AWS_DEFAULT_REGION=us-west-2 \
    AWS_DATA_PATH=/usr/lib/python3/dist-packages/awscli/botocore/data "${@:2}" $stumbling /mnt/scenario/retries.json
  expect_equal "attempts of $1" "$(printf 'SageMaker.%s\n' 'ListClusters 1 503' 'ListClusters 2 400' 'ListClusters 3 200' \
    'DescribeCluster 1 503' 'DescribeCluster 2 400' 'DescribeCluster 3 400')" "$(tr -d '\0' <$stage/attempts)"
}
retries "the AWS CLI" python3 /mnt/scenario/run.py aws
retries boto3 python3 /mnt/scenario/run.py boto3
retries "the JavaScript client" node --no-warnings /mnt/scenario/node/run.mjs
stop_service
