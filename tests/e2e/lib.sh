# The stage of every scenario: one world of its own, a control plane in it, the official AWS CLI, and questions to ask.
#
# A scenario sources this file first. It is then run again as pid 1 of new network, mount, PID, UTS and IPC namespaces
# with a tmpfs of its own, so that scenarios do not see each other and nothing can outlive one: killing pid 1 ends all.
# shellcheck shell=bash
set -euo pipefail

# The Slurm of this run: that of ESPALIER_NODE_IMAGE, or ESPALIER_SLURM=26.05.
[ "${ESPALIER_SLURM:-}" != 26.05 ] || export ESPALIER_NODE_IMAGE=${ESPALIER_NODE_IMAGE_26_05:-}
if [ "${ESPALIER_WORLD:-}" != "$0" ]; then
  for name in ESPALIER_BUILD ESPALIER_NODE_IMAGE ESPALIER_CLIENT_IMAGE; do
    [ -n "${!name:-}" ] || { echo "$0: $name is not set: run this by ./dev test" >&2; exit 1; }
  done
  # unshare ignores SIGTERM, and a killed parent tells nobody: both are made to end the world.
  ESPALIER_WORLD=$0 setpriv --pdeathsig KILL \
    unshare --net --mount --pid --uts --ipc --fork --kill-child=KILL --mount-proc bash "$0" </dev/null &
  trap 'kill -KILL $!' INT TERM
  wait $!
  exit
fi

readonly endpoint=http://127.0.0.1:8650
# shellcheck disable=SC2034  # for scenarios
readonly repository=${BASH_SOURCE[0]%/tests/e2e/*}
readonly stage=/run/stage state=/run/stage/state client=/run/stage/client
cluster=trellis        # the one that the questions below are about
region=us-west-2       # that clients sign for
service=               # pid of the control plane

ip link set lo up
mount -t tmpfs -o mode=755 stage /run  # hides the host's /run, its /run/netns too
mkdir -p $stage/{state,client,files} /run/netns

# ---- what goes wrong

# fail TEXT [OUTPUT]: ends the scenario with all that helps to see why.
fail() {
  [ "$BASHPID" = $$ ] || { printf 'failed: %s\n' "$1" >&2; exit 1; }  # in a subshell; the scenario tells the rest
  {
    printf '\nFAILED: %s\n' "$1"
    [ -z "${2:-}" ] || printf -- '---- last output\n%s\n' "$2"
    printf -- '---- nodes\n'
    timeout 10 "$ESPALIER_BUILD/espalier" --endpoint $endpoint nodes "$cluster" 2>&1 | tail -40
    printf -- '---- events\n'
    timeout 10 "$ESPALIER_BUILD/espalier" --endpoint $endpoint events "$cluster" 2>&1 | tail -40
    printf -- '---- serve\n'
    tail -60 $stage/serve.log 2>&1
  } >&2 || true
  exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
set -o errtrace

say() { printf '%3d s  %s\n' "$SECONDS" "$*"; }

# expect_equal WHAT EXPECTED ACTUAL
expect_equal() { [ "$2" = "$3" ] || fail "$1" "$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") || true)"; }
# expect_match WHAT REGEX TEXT
expect_match() { grep -Eq -- "$2" <<<"$3" || fail "$1: nothing matches '$2'" "$3"; }

# expect_failure CODE REGEX COMMAND…: it must exit with CODE and say REGEX.
expect_failure() {
  local code=$1 pattern=$2 output status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  expect_equal "exit code of: $*" "$code" "$status"
  expect_match "what it says: $*" "$pattern" "$output"
}

# wait_until SECONDS COMMAND…: asks again and again; the last answer is shown when the time is over.
wait_until() {
  local seconds=$1 end=$((SECONDS + $1)) output
  shift
  until output=$("$@" 2>&1); do
    [ "$SECONDS" -lt "$end" ] || fail "not within $seconds s: $*" "$output"
    sleep 0.1
  done
  say "$*"
}

# ---- the control plane and its clients

esp() { "$ESPALIER_BUILD/espalier" --endpoint $endpoint "$@"; }

serve() {  # [OPTION…]  in the foreground
  "$ESPALIER_BUILD/espalier" serve --state $state --listen 127.0.0.1:8650 --image "$ESPALIER_NODE_IMAGE" "$@"
}
answers() { curl -sf -m 2 -o $stage/answer -H 'X-Amz-Target: Espalier.DescribeService' -d '{}' $endpoint; }
begin_service() {  # [OPTION…]  in the background, not waited for
  "$ESPALIER_BUILD/espalier" serve --state $state --listen 127.0.0.1:8650 --image "$ESPALIER_NODE_IMAGE" "$@" \
    >>$stage/serve.log 2>&1 &
  service=$!
}
start_service() {
  begin_service "$@"
  wait_until 10 answers
}
kill_service() {
  kill -KILL "$service"
  wait "$service" 2>/dev/null || true
}
stop_service() {
  kill -TERM "$service"
  timeout 20 tail --pid="$service" -f /dev/null || fail "serve does not end on SIGTERM"
  wait "$service" || fail "serve ended with $?"
}

# The client image is entered read-only, in this world's network; $stage/files is its /mnt/scenario.
enter_client() {
  mount --bind "$ESPALIER_CLIENT_IMAGE" $client
  mount -o remount,bind,ro $client
  mount -t proc proc $client/proc
  mount --rbind /dev $client/dev
  mount -t tmpfs tmp $client/tmp
  mount --bind $stage/files $client/mnt/scenario
}
enter_client

in_client() {
  chroot $client /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp AWS_ACCESS_KEY_ID=example AWS_SECRET_ACCESS_KEY=example \
    AWS_REGION="$region" AWS_PAGER='' AWS_MAX_ATTEMPTS=1 AWS_EC2_METADATA_DISABLED=true "$@"
}
aws() { in_client aws --endpoint-url $endpoint --output json "$@"; }

# call TARGET BODY: any operation on the wire; prints "STATUS BODY".
call() {
  curl -s -m 30 -w '\n%{http_code}' -H 'Content-Type: application/x-amz-json-1.1' -H "X-Amz-Target: $1" -d "$2" $endpoint |
    { mapfile -t lines; printf '%s %s\n' "${lines[-1]}" "${lines[*]:0:${#lines[@]}-1}"; }
}

# ---- clusters

# group NAME ROLE TYPE COUNT [PARTITION]: a ClusterInstanceGroupSpecification.
group() {
  jq -nc --arg name "$1" --arg role "$2" --arg type "$3" --argjson count "$4" --arg partition "${5:-}" '{
    InstanceGroupName: $name, InstanceType: $type, InstanceCount: $count,
    ExecutionRole: "arn:aws:iam::123456789012:role/espalier-example",
    LifeCycleConfig: {SourceS3Uri: "s3://sagemaker-example/lifecycle", OnCreate: "on_create.sh"},
    SlurmConfig: ({NodeType: $role} + if $partition == "" then {} else {PartitionNames: [$partition]} end)}'
}
head_groups() { group ctl Controller ml.c5.xlarge 1; group login Login ml.c5.large 1; }

# create_request GROUP…: a CreateCluster request for $cluster, a JSON document.
create_request() {
  printf '%s\n' "$@" | jq -sc --arg name "$cluster" '{ClusterName: $name, InstanceGroups: .,
    Orchestrator: {Slurm: {}}, NodeProvisioningMode: "Continuous", NodeRecovery: "Automatic"}'
}
# create_cluster GROUP…: with the AWS CLI.
create_cluster() {
  create_request "$@" >$stage/files/create.json
  aws sagemaker create-cluster --cli-input-json file:///mnt/scenario/create.json
}
# update_groups GROUP…: sets these groups' specifications; others stay.
update_groups() {
  printf '%s\n' "$@" | jq -sc . >$stage/files/groups.json
  aws sagemaker update-cluster --cluster-name "$cluster" --instance-groups file:///mnt/scenario/groups.json
}

describe() { aws sagemaker describe-cluster --cluster-name "$cluster"; }
status_is() { describe | tee $stage/described | jq -e --arg s "$1" '.ClusterStatus == $s' || { cat $stage/described; false; }; }
# group_of NAME FILTER: a jq filter on one group's details.
group_of() { describe | jq -r --arg name "$1" ".InstanceGroups[] | select(.InstanceGroupName == \$name) | $2"; }
counts_are() { [ "$(group_of "$1" '"\(.CurrentCount)/\(.TargetCount)"' | tee /dev/stderr)" = "$2" ]; }  # GROUP CURRENT/TARGET

is_gone() { ! aws sagemaker describe-cluster --cluster-name "$cluster" 2>$stage/gone && grep ResourceNotFound $stage/gone; }
delete_cluster() {
  aws sagemaker delete-cluster --cluster-name "$cluster"
  wait_until 60 is_gone
  nothing_left
}

# Nothing of any machine: no process, namespace, link, mount or file.
nothing_left() {
  expect_equal "processes are left" "" "$(foreign_processes)"
  expect_equal "links are left" "" "$(ip -o link show type veth)"
  expect_equal "named namespaces are left" "" "$(ls /run/netns)"
  expect_equal "mounts are left" "" "$(grep " $state" /proc/self/mountinfo || true)"
  expect_equal "files are left" "" "$(find $state/machines $state/volumes -mindepth 1 2>/dev/null || true)"
}
foreign_processes() {  # those in other PID namespaces than this world's own, and helpers that build machines
  local process
  for process in /proc/[0-9]*; do
    [ -e "$process/ns/pid" ] || continue
    if ! [ "$process/ns/pid" -ef /proc/self/ns/pid ] || grep -qsz espalier-agent "$process/cmdline"; then
      echo "${process#/proc/} $(<"$process/comm")"
    fi
  done 2>/dev/null
}

# ---- machines, looked at from the host without asking the product

# machines: "PID HOSTNAME" of every machine that runs. Its first process is pid 1 of its namespace.
machines() {
  local process
  for process in /proc/[0-9]*; do machine "${process#/proc/}"; done
}
# machine PID: as above, nothing when it is none's first process.
machine() {
  if [ "$1" = 1 ] || ! grep -qs '^NSpid:.*[[:space:]]1$' "/proc/$1/status"; then return; fi
  nsenter -t "$1" -u hostname 2>/dev/null | sed "s/^/$1 /"
}
# Looks first where it was the last time: a search costs as much as there are machines, and is wanted all the time.
machine_pid() {
  local found=''
  [ ! -s "$stage/pid.$1" ] || found=$(machine "$(<"$stage/pid.$1")")
  [ "${found#* }" = "$1" ] || found=$(machines | awk -v name="$1" '$2 == name')
  [ -n "$found" ] && echo "${found%% *}" | tee "$stage/pid.$1"
}

# on NODE SHELL_TEXT: as the ordinary user, in a login shell of that machine. Works without a control plane.
on() {
  local pid
  pid=$(machine_pid "$1") || { echo "no machine is called $1" >&2; return 1; }
  timeout 120 nsenter -t "$pid" -m -u -i -n -p -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin runuser -l ubuntu -c "$2"
}

# as_root NODE COMMAND…: of the machine's own root, a Slurm admin on a controller.
as_root() {
  local pid
  pid=$(machine_pid "$1") || { echo "no machine is called $1" >&2; return 1; }
  timeout 600 nsenter -t "$pid" -m -u -i -n -p -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "${@:2}"
}
is_another_process() { local pid; pid=$(machine_pid "$1") && [ "$pid" != "$2" ]; }  # NODE OLD_PID

# ---- nodes, as the product shows them

# node_field NODE FIELD, in any state; ready_id NODE: the machine of a node in use.
node_field() { esp nodes "$cluster" --json | jq -r --arg n "$1" --arg f "$2" '.Nodes[] | select(.NodeName == $n) | .[$f]'; }
ready_id() { esp nodes "$cluster" --json | jq -er --arg n "$1" '.Nodes[] | select(.NodeName == $n and .State == "Ready") | .InstanceId'; }
# ready_are COUNT: so many slots of the whole cluster are in use. slurmctld shows a node idle a moment before.
ready_are() { [ "$(esp nodes "$cluster" --json | jq '[.Nodes[] | select(.State == "Ready")] | length' | tee /dev/stderr)" = "$1" ]; }
is_replaced() { local id; id=$(ready_id "$1") && [ "$id" != "$2" ]; }  # NODE OLD_ID
# events_say REGEX [TIMES]
events_say() { [ "$(esp events "$cluster" | tee /dev/stderr | grep -Ec -- "$1")" -ge "${2:-1}" ]; }

# ---- Slurm, asked as a user would on the login machine

on_login() { on login-1 "$1"; }
node_states() { on_login "sinfo -h -N -o '%N %T'" | sort -uV; }
# nodes_in STATE COUNT: exactly that many nodes have the state.
nodes_in() { [ "$(node_states | tee /dev/stderr | awk -v s="$1" '$2 == s' | wc -l)" = "$2" ]; }
slurm_version() { on_login 'sinfo --version' | grep -oE '[0-9]+\.[0-9]+' | head -1; }
submit() { on_login "sbatch --parsable $1"; }
# held_job NAME OPTIONS: a job that runs until `let_go NAME`; prints its number.
held_job() { submit "-J $1 $2 --wrap 'until [ -e /home/ubuntu/$1.go ]; do sleep 0.1; done'"; }
let_go() { on_login "touch $1.go"; }
job_state() { on_login "scontrol -o show job $1" | grep -oE 'JobState=[A-Z_]+' | cut -d= -f2; }
# job_run JOB: its state, nodes and start. job_survives JOB RUN: it is still the same one, on the same nodes.
job_run() { on_login "squeue -h -j $1 -o '%T %N %S'"; }
job_survives() { expect_equal "the running job" "$2" "$(job_run "$1")"; }
# save_state NAME: until slurmctld has saved all that happened so far, which it does up to 5 s late.
save_state() {
  submit "-H -J $1 --wrap true" >/dev/null
  wait_until 20 grep -aqr "$1" $state/volumes --include job_state
}
job_is() { [ "$(job_state "$1" | tee /dev/stderr)" = "$2" ]; }

# "NODE LEAF" as slurmctld has it, and as the product shows it.
slurm_leaves() {
  on_login "scontrol show topology | grep -v Switches= | sed -nE 's/^SwitchName=([^ ]+) .*Nodes=([^ ]+).*/\1 \2/p' |
    while read -r leaf nodes; do scontrol show hostnames \"\$nodes\" | sed \"s/\$/ \$leaf/\"; done" | sort -V
}
shown_leaves() {
  esp topology show "$cluster" --json |
    jq -r '.Switches[] | .Name as $leaf | .Nodes[]? | "\(.) \($leaf)"' | sort -V
}
# topology_is_true: slurmctld and the product agree, and every compute node that Slurm knows has one leaf.
topology_is_true() {
  local slurm
  slurm=$(slurm_leaves)
  diff <(printf '%s\n' "$slurm") <(shown_leaves) && diff <(cut -d' ' -f1 <<<"$slurm") <(node_states | cut -d' ' -f1)
}
# slurmctld_log_is_clean: slurmctld has nothing to complain of about topology since its start. That a topology of blocks
# beside a tree does not have the other nodes is meant.
slurmctld_log_is_clean() {
  local said
  said=$(as_root ctl-1 grep -iE '(error|fatal|warning).*(topolog|switch|block|leaf)' /var/log/slurm/slurmctld.log || true)
  ! as_root ctl-1 grep -q 'topology: tree' /etc/slurm/topology.yaml 2>/dev/null ||
    said=$(grep -v 'warning: Blocks lack access to' <<<"$said" || true)
  expect_equal "what slurmctld complains of" "" "$said"
}

# ---- where machines truly hang, whatever the product says

# scattered_fabric TYPE MACHINES LEAF_SIZE [NAME]: a fabric file whose leaves (four below a spine; NVLink domains when
# NAME is given) fill in a seeded order, so that a node's name says nothing of its place, as in a cloud.
scattered_fabric() {
  awk -v n="$2" 'BEGIN { srand(1); while (seat < n) print rand(), seat++ }' | sort -n | cut -d' ' -f2 |
    awk -v type="$1" -v size="$3" -v domain="${4:-}" '
    BEGIN { print "leaves:" }
    { leaf = int($1 / size)
      printf "  - {path: [core, spine-%d, leaf-%d], machines: 1, instance_type: %s%s}\n", leaf / 4, leaf, type,
        domain == "" ? "" : ", domain: " domain "-" leaf }'
}
# truth: "NODE,PATH,DOMAIN" of every machine that has a place, for `espalier topology score --source csv=`.
truth() {
  jq -r 'select(.position.network_nodes != []) | "\(.host_name),\(.position.network_nodes | join("/")),\(.position.domain)"' \
    $state/machines/*/machine.json
}
# occupy_half PARTITION: jobs on half of the nodes of $stage/truth.csv, unevenly as jobs leave them, from full leaves to
# empty ones. One a leaf: slurmctld refuses a job on nodes of many blocks.
occupy_half() {
  local size list half=$(($(wc -l <$stage/truth.csv) / 2))
  while read -r size list; do
    submit "-p $1 -J busy --exclusive -N$size -w $list --wrap 'sleep infinity'" </dev/null
  done < <(sort -t, -k2,2 -k1,1V $stage/truth.csv | awk -F, -v half=$half '
    { unit[$2] = unit[$2] " " $1; if (!seen[$2]++) order[++units] = $2 }
    END { for (i = 1; i <= units; i++) {
        n = split(unit[order[i]], each, " ")
        take = int(n * ((i * 11) % units) / (units - 1) + 0.5)
        if (take > half - taken) take = half - taken
        taken += take
        if (take > 0) printf "%d %s", take, each[1]
        for (k = 2; k <= take; k++) printf ",%s", each[k]
        if (take > 0) print "" } }')
  wait_until 60 nodes_in allocated "$(on_login "squeue -h -n busy -o %D" | awk '{ n += $1 } END { print n }')"
}
# Slurm as it is without a topology, its control plane away.
without_topology() {
  kill_service
  # shellcheck disable=SC2016  # for that machine's shell
  as_root ctl-1 sh -c 'cd /etc/slurm && rm -f topology.* && sed -i "s/ Topology=[^ ]*//" espalier-partitions.conf
    case $(slurmctld -V) in *\ 2[0-4].*) plugin=default ;; *) plugin=flat && scontrol update NodeName=ALL Topology= ;; esac
    echo TopologyPlugin=topology/$plugin >espalier-topology.conf && scontrol reconfigure'
}

# ranks OPTIONS: runs a job of one task a node, its step in an allocation as training scripts have it, with these options
# of salloc: its hosts in the order of ranks.
ranks() { on_login "salloc -Q $1 srun -l hostname" </dev/null | sort -n | awk '{ print $2 }' | paste -sd,; }

leaf_of() { slurm_leaves | awk -v node="$1" '$1 == node { print $2 }'; }
no_leaf_is() { ! slurm_leaves | grep " $1\$"; }

# ---- the official clients

# run_client COMMAND…: COMMAND ENDPOINT SCENARIO carries out the scenario of tests/clients on a control plane of its own,
# which takes nothing but signatures of a temporary key.
run_client() {
  local key
  cp -r "$repository/tests/clients/." $stage/files/
  start_service --max-cluster-instances 20
  # A group of this type is on its way for so long that it can be seen to be.
  expect_match "a slow pool" '^200' "$(call Espalier.UpdateCapacity '{"Pools":{"ml.c5.9xlarge":{"LaunchTimeMillis":10000}}}')"
  region=eu-central-1
  key=$(ESPALIER_STATE=$state esp --json access create client --role admin --lifetime 1h)
  expect_match "unsigned" '^403 .*MissingAuthenticationToken' "$(call SageMaker.ListClusters '{}')"
  in_client AWS_ACCESS_KEY_ID="$(jq -r .AccessKey.AccessKeyId <<<"$key")" \
    AWS_SECRET_ACCESS_KEY="$(jq -r .SecretAccessKey <<<"$key")" AWS_SESSION_TOKEN="$(jq -r .SessionToken <<<"$key")" \
    AWS_DEFAULT_REGION=$region AWS_DATA_PATH=/usr/lib/python3/dist-packages/awscli/botocore/data \
    "$@" $endpoint /mnt/scenario/scenario.json
  nothing_left
  stop_service
}
