#!/usr/bin/env bash
# kill -9 in the middle of changes of access keys: what was answered holds, what was revoked stays so, and the audit trail
# is whole and has every change.
. "$(dirname "$0")/lib.sh"

export ESPALIER_STATE=$state
declare -A secret_of=()
revoked=() last=
make() {  # ends when nobody answers any more
  local answer
  answer=$(esp --json access create "$1" 2>/dev/null) || return 1
  last=$(jq -r .AccessKey.AccessKeyId <<<"$answer")
  secret_of[$last]=$(jq -r .SecretAccessKey <<<"$answer")
}
revoke() {
  unset "secret_of[$1]"  # without an answer it may be either
  esp access revoke "$1" >/dev/null 2>&1 || return 1
  revoked+=("$1")
}

start_service
esp access create boss --role admin >/dev/null
for round in $(seq 8); do
  after=$((RANDOM % 4 + 2))
  for i in $(seq 200); do
    if [ "$i" = $after ]; then
      { sleep "0.$((RANDOM % 200 + 100))" && kill -KILL "$service"; } &
    fi
    make "k$round-$i" || break
    [ $((i % 3)) != 0 ] || revoke "$last" || break
  done
  wait "$service" 2>/dev/null || true
  begin_service
  wait_until 10 esp access list
  listed=$(esp --json access list)
  for id in "${revoked[@]}"; do
    expect_equal "a revoked key" "" "$(jq -r --arg id "$id" '.. | .AccessKeyId? // empty | select(. == $id)' <<<"$listed")"
  done
done
say "${#secret_of[@]} keys made, ${#revoked[@]} revoked"
[ ${#secret_of[@]} -ge 6 ] || fail "too few keys were made to show anything"
for id in "${!secret_of[@]}"; do
  AWS_ACCESS_KEY_ID=$id AWS_SECRET_ACCESS_KEY=${secret_of[$id]} esp cluster list >/dev/null
done
expect_equal "lines of the trail that cannot be read" "" "$(jq -Rr 'fromjson? // "x" | strings' $state/audit/*)"
records() { jq -s --arg op "Espalier.$1" --argjson status "$2" '[.[] | select(.operation == $op and .status == $status)] | length' $state/audit/*; }
there=$(jq '[.. | .AccessKeyId? // empty] | length' <<<"$listed")
[ "$(records CreateAccessKey 0)" -ge $((there + ${#revoked[@]})) ] || fail "a key is there that the trail does not know"
[ "$(records CreateAccessKey 200)" -ge $((${#secret_of[@]} + ${#revoked[@]} + 1)) ] || fail "an answer is not in the trail"
[ "$(records RevokeAccessKey 200)" -ge ${#revoked[@]} ] || fail "a revocation is not in the trail"
stop_service
