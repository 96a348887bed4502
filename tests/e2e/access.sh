#!/usr/bin/env bash
# Access keys, TLS and the audit trail, with live signatures of the official clients: an open door, closed by the first
# key; roles; rotation; what an attacker on the network would try; nothing secret where others can read it.
. "$(dirname "$0")/lib.sh"

export ESPALIER_STATE=$state
# as KEY SECRET [TOKEN]: the AWS CLI with a key of ours.
as() {
  local id=$1 secret=$2 token=${3:-}
  shift 3
  chroot $client /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp AWS_ACCESS_KEY_ID="$id" AWS_SECRET_ACCESS_KEY="$secret" \
    ${token:+AWS_SESSION_TOKEN="$token"} AWS_REGION=$region AWS_PAGER='' AWS_MAX_ATTEMPTS=1 \
    AWS_EC2_METADATA_DISABLED=true ${bundle:+AWS_CA_BUNDLE=/mnt/scenario/api.crt} \
    aws --endpoint-url "$url" --output json sagemaker "$@"
}
# made NAME OPTION…: makes a key, sets $id, $secret, $token.
made() {
  local answer
  answer=$(esp --json access create "$@")
  id=$(jq -r .AccessKey.AccessKeyId <<<"$answer")
  secret=$(jq -r .SecretAccessKey <<<"$answer")
  token=$(jq -r '.SessionToken // ""' <<<"$answer")
  secrets+=("$secret" ${token:+"$token"})
}
secrets=() bundle='' url=$endpoint

start_service
expect_match "the open door says so" "there are no access keys" "$(cat $stage/serve.log)"
expect_equal "unsigned" 200 "$(call SageMaker.ListClusters '{}' | cut -d' ' -f1)"
as example example '' list-clusters >/dev/null
expect_match "keys take a signature" '^403 .*AccessDenied' "$(call Espalier.CreateAccessKey '{"Name":"x","Role":"Admin"}')"
expect_match "a web page of another name" '^403' \
  "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' -H 'X-Amz-Target: SageMaker.ListClusters' -d '{}' $endpoint)"

say "the first key closes the door"
made boss --role admin; boss=("$id" "$secret" '')
expect_match "unsigned" '^403 .*MissingAuthenticationToken' "$(call SageMaker.ListClusters '{}')"
expect_failure 254 UnrecognizedClientException as example example '' list-clusters
expect_failure 254 InvalidSignatureException as "$id" wrong '' list-clusters
as "${boss[@]}" list-clusters >/dev/null
made reader; reader=("$id" "$secret" '')
made ci --role operator --cluster trellis; ci=("$id" "$secret" '')
made visitor --lifetime 1h; visitor=("$id" "$secret" "$token")
as "${reader[@]}" list-clusters >/dev/null
as "${visitor[@]}" list-clusters >/dev/null
expect_failure 254 UnrecognizedClientException as "${visitor[0]}" "${visitor[1]}" '' list-clusters

say "roles"
create_request "$(group ctl Controller ml.c5.xlarge 1)" >$stage/files/create.json
for key in reader ci; do
  declare -n by=$key
  expect_failure 254 AccessDeniedException as "${by[@]}" create-cluster --cli-input-json file:///mnt/scenario/create.json
done
as "${boss[@]}" create-cluster --cli-input-json file:///mnt/scenario/create.json >/dev/null
as "${reader[@]}" describe-cluster --cluster-name trellis >/dev/null
as "${ci[@]}" update-cluster --cluster-name trellis --node-recovery None >/dev/null
expect_failure 254 AccessDeniedException as "${ci[@]}" delete-cluster --cluster-name trellis
arn=$(as "${ci[@]}" list-clusters | jq -r '.ClusterSummaries[0].ClusterArn')
as "${ci[@]}" describe-cluster --cluster-name "$arn" >/dev/null
expect_failure 254 AccessDeniedException as "${ci[@]}" describe-cluster --cluster-name "${arn/123456789012/210987654321}"
ready() { esp nodes trellis | grep -E 'ctl-1 .*Ready'; }
wait_until 60 ready  # the agent enrolled over TLS, with its certificate

say "the JavaScript client and boto3, where they are installed"
if [ -d "$repository/tests/clients/node/node_modules" ]; then
  cp -r "$repository/tests/clients/node/." $stage/files/
  cat >$stage/files/sign.mjs <<'JS'
import { SageMakerClient, ListClustersCommand } from "@aws-sdk/client-sagemaker";
const client = new SageMakerClient({ endpoint: process.env.ESPALIER_ENDPOINT });
console.log((await client.send(new ListClustersCommand({}))).ClusterSummaries.length);
JS
  expect_equal "signed by JavaScript" 1 "$(chroot $client /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp \
    ESPALIER_ENDPOINT=$url AWS_REGION=$region AWS_ACCESS_KEY_ID="${visitor[0]}" AWS_SECRET_ACCESS_KEY="${visitor[1]}" \
    AWS_SESSION_TOKEN="${visitor[2]}" node --no-warnings /mnt/scenario/sign.mjs)"
fi
if chroot $client /usr/bin/python3 -c 'import boto3' 2>/dev/null; then
  expect_equal "signed by boto3" 1 "$(chroot $client /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp AWS_REGION=$region \
    AWS_ACCESS_KEY_ID="${reader[0]}" AWS_SECRET_ACCESS_KEY="${reader[1]}" python3 -c \
    "import boto3; print(len(boto3.client('sagemaker', '$region', endpoint_url='$url').list_clusters()['ClusterSummaries']))")"
fi

say "rotation and revocation"
answer=$(esp --json access rotate "${reader[0]}" --grace 0s)
secrets+=("$(jq -r .SecretAccessKey <<<"$answer")")
expect_failure 254 ExpiredTokenException as "${reader[@]}" list-clusters
as "$(jq -r .AccessKey.AccessKeyId <<<"$answer")" "$(jq -r .SecretAccessKey <<<"$answer")" '' list-clusters >/dev/null
esp access revoke "${visitor[0]}"
expect_failure 254 UnrecognizedClientException as "${visitor[@]}" list-clusters
expect_failure 1 'trusted|role is|AccessDenied|authorized' env AWS_ACCESS_KEY_ID="${ci[0]}" AWS_SECRET_ACCESS_KEY="${ci[1]}" \
  "$ESPALIER_BUILD/espalier" --endpoint $endpoint access list

say "a machine's token is of no use elsewhere"
agents=$(esp --json status | jq -r .AgentEndpoint)
data=$(find $state -name user-data.json | head -1)
expect_equal "plain HTTP at the agents' listener" 000 "$(curl -s -m 5 -o /dev/null -w '%{http_code}' "http://$agents/enrol" -d '{}' || true)"
enrol() { curl -sk -m 5 -o /dev/null -w '%{http_code}' "$@" "https://$agents/enrol" -d "$(jq -c '{machine_id, token, version: "0"}' "$data")"; }
expect_equal "without a certificate" 401 "$(enrol)"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=thief -days 1 \
  -keyout $stage/thief.key -out $stage/thief.crt 2>/dev/null
expect_equal "with another certificate" 403 "$(enrol --cert $stage/thief.crt --key $stage/thief.key)"
expect_match "it is an event" 'An agent that called as node ctl-1 was refused' "$(esp events trellis)"
expect_failure 35 '' curl -sk --tls-max 1.1 "https://$agents/enrol"

say "audit"
trail=$(esp audit --limit 200)
for line in 'boss .*CreateCluster +trellis +done' 'reader .*CreateCluster +trellis +AccessDenied' \
  'ci .*DeleteCluster +trellis +AccessDenied' 'CreateAccessKey' 'RevokeAccessKey' '\(claimed\)'; do
  expect_match "the trail" "$line" "$trail"
done

say "TLS, after a restart with the keys that were made"
stop_service
expect_failure 1 'TLS|tls' "$ESPALIER_BUILD/espalier" serve --state $state --listen 0.0.0.0:8650 --image "$ESPALIER_NODE_IMAGE"
identity=$(find $state -name credential | head -1)
old=$(cat "$identity")
"$ESPALIER_BUILD/espalier" serve --state $state --listen 0.0.0.0:8650 --tls self-signed --image "$ESPALIER_NODE_IMAGE" \
  >>$stage/serve.log 2>&1 &
service=$!
url=https://127.0.0.1:8650 bundle=yes
up() { "$ESPALIER_BUILD/espalier" --endpoint $url status; }  # root of this host: its own credential and certificate
wait_until 10 up
cp $state/tls/api.crt $stage/files/
as "${boss[@]}" list-clusters >/dev/null
bundle='' expect_failure 255 'SSL|certificate' as "${boss[@]}" list-clusters
expect_equal "plain HTTP" 000 "$(curl -s -m 5 -o /dev/null -w '%{http_code}' http://127.0.0.1:8650 || true)"
wait_until 60 env "$ESPALIER_BUILD/espalier" --endpoint $url nodes trellis

say "agents renew what they show; what they showed before is worth nothing"
stop_service
"$ESPALIER_BUILD/espalier" serve --state $state --listen 0.0.0.0:8650 --tls self-signed --image "$ESPALIER_NODE_IMAGE" \
  --agent-credential-seconds 1 >>$stage/serve.log 2>&1 &
service=$!
renewed() { [ "$(jq -r .certificate "$identity")" != "$(jq -r .certificate <<<"$old")" ]; }
wait_until 30 renewed
speak_as() {  # IDENTITY: as a machine's agent would
  jq -r .certificate <<<"$1" >$stage/agent.crt
  jq -r .key <<<"$1" >$stage/agent.key
  curl -sk -m 5 -o /dev/null -w '%{http_code}' --cert $stage/agent.crt --key $stage/agent.key \
    -H "Authorization: Bearer $(jq -r .credential <<<"$1")" "https://$agents/report" -d '{}'
}
speaks_no_more() { [ "$(speak_as "$old" | tee /dev/stderr)" = 401 ]; }
wait_until 20 speaks_no_more
! grep -qF -- "$(jq -r .credential <<<"$old")" $stage/serve.log || fail "an agent's credential is in the log"
expect_equal "another's key with its credential" 401 "$(speak_as "$(jq -c --argjson old "$old" '.certificate = $old.certificate | .key = $old.key' "$identity")")"

say "secrets stay where they belong"
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' >$stage/processes || true
for text in "${secrets[@]}" "$(jq -r .token "$data")" "$(jq -r .SecretAccessKey $state/local-admin.json)"; do
  ! grep -rqF -- "$text" $stage/serve.log $state/audit || fail "a secret is in the log or the audit trail"
  ! grep -qF -- "$text" $stage/processes || fail "a secret is in a process list"
  [ "$text" = "$(jq -r .token "$data")" ] || ! grep -qF -- "$text" $state/espalier.db* || fail "a secret is in the database"
done
readable=$(find $state -xdev -type f \( -name '*.db*' -o -name '*.key' -o -name '*.jsonl' -o -name 'local-admin.json' \
  -o -name user-data.json -o -name credential -o -name munge.key \) -perm /077)
expect_equal "files that others may read" '' "$readable"
as_boss_gone() { ! "$ESPALIER_BUILD/espalier" --endpoint $url cluster describe trellis; }
"$ESPALIER_BUILD/espalier" --endpoint $url cluster delete trellis --no-wait
wait_until 60 as_boss_gone
nothing_left
stop_service
