#!/usr/bin/env bash
# A rack fills up machine by machine, other nodes come beside it, machines die, groups grow and shrink, and the user
# chooses topologies. After every step the whole topology, as slurmctld has it, is that of the plan; one job runs through
# everything, and slurmctld's log has nothing to say.
# Slurm: both
. "$(dirname "$0")/lib.sh"

gb200=ml.p6e-gb200.36xlarge p5=ml.p5.48xlarge
cat >$stage/fabric.yaml <<END
leaves:
  - {path: [core, spine-1, rack-1], machines: 18, domain: nvl-1, instance_type: $gb200}
  - {path: [core, spine-1, rack-2], machines: 18, domain: nvl-2, instance_type: $gb200}
  - {path: [core, spine-2, leaf-1], machines: 1, instance_type: $p5}
  - {path: [core, spine-2, leaf-2], machines: 2, instance_type: $p5}
  - {path: [core, spine-3, leaf-3], machines: 2, instance_type: $p5}
END

# Reads topology.conf, topology.yaml or what scontrol shows of either: "TOPOLOGY UNIT LIST", of nodes and of children.
units() {
  tr -d '"' | awk '
    $2 == "topology:" { topology = $3 }
    $2 == "switch:" || $2 == "block:" { unit = $3 }
    ($1 == "nodes:" || $1 == "children:") && $2 != "" { print topology, unit, $2 }
    /^(SwitchName|BlockName)=/ {
      for (i = 1; i <= NF; i++) { split($i, word, "="); of[word[1]] = word[2] }
      print "default", $1 ~ /^Block/ ? of["BlockName"] : of["SwitchName"], of["Switches"] != "" ? of["Switches"] : of["Nodes"]
      delete of }'
}
# places: "TOPOLOGY NODE PATH" of every node, from the same.
places() {
  # shellcheck disable=SC2016  # for that machine's shell
  units | on ctl-1 'while read -r topology unit list; do
    scontrol show hostnames "$list" | sed "s/^/$topology $unit /"; done' | awk '
    { parent[$1, $3] = $2; inner[$1, $2]; topology[NR] = $1; member[NR] = $3 }
    END { for (i = 1; i <= NR; i++) {
      if ((topology[i], member[i]) in inner) continue
      path = ""
      for (at = member[i]; (topology[i], at) in parent; at = parent[topology[i], at]) path = "/" parent[topology[i], at] path
      print topology[i], member[i], path } }' | sort -V
}
# as_planned: slurmctld has what the plan says, which has every node that Slurm knows.
as_planned() {
  esp topology show "$cluster" --file | places >$stage/planned
  on ctl-1 'scontrol show topoconf 2>/dev/null || scontrol show topology' | places >$stage/shown
  diff $stage/planned $stage/shown || return 1
  if [ ! -s $stage/planned ]; then model_is flat; return; fi
  diff <(awk '$2 !~ /^pad_/ { print $2 }' $stage/planned | sort -uV) <(on_login "sinfo -h -N -o %N" | sort -uV)
}
model() { esp topology status "$cluster" --json | jq -r .Model; }
model_is() { [ "$(model)" = "$1" ]; }
slots_are() { [ "$(node_states | wc -l)" = "$1" ]; }
# step TEXT: what must be true after each change. The job is the same one, on the same node, since the same time.
step() {
  wait_until 30 as_planned
  job_survives "$job" "$running"
  say "$1: $(model), $(wc -l <$stage/shown) places"
}
# dies NODE: its machine, and its slot gets another.
dies() {
  local id
  id=$(ready_id "$1")
  kill -KILL "$(machine_pid "$1")"
  wait_until 60 is_replaced "$1" "$id"
}

start_service --fabric $stage/fabric.yaml
esp capacity set $gb200=1
create_cluster "$(head_groups)" "$(group gb200 Compute $gb200 20 nvl)"
wait_until 60 nodes_in idle 1
job=$(held_job through "-p nvl --no-requeue")
wait_until 20 job_is "$job" RUNNING
running=$(job_run "$job")
step "1 of 20 slots has a machine"

for n in {2..9}; do
  esp capacity set $gb200="$n" >/dev/null
  wait_until 30 ready_are $((n + 2))
  step "$n of 20"
done
expect_equal "the model of UltraServers" block "$(model)"
slurmctld_log_is_clean

esp capacity set $p5=0 >/dev/null
update_groups "$(group p5 Compute $p5 5 gpu)"
wait_until 30 slots_are 25
step "other nodes are to come"
for n in {10..20}; do
  esp capacity set $gb200="$n" $p5=$((n < 15 ? n - 9 : 5)) >/dev/null
  wait_until 30 ready_are $((n + 2 + (n < 15 ? n - 9 : 5)))
  step "$n of 20, beside others"
done
expect_equal "the model of both" tree "$(model)"

dies p5-2
dies gb200-20
step "two died and are replaced"
update_groups "$(group gb200 Compute $gb200 22 nvl)" "$(group p5 Compute $p5 1 gpu)"
wait_until 30 slots_are 23
step "one group grows, one shrinks"
esp capacity set $gb200=22 >/dev/null
wait_until 30 ready_are 25
step "and is filled"
slurmctld_log_is_clean

for wish in tree block off auto; do
  esp topology set "$cluster" $wish
  case $wish in off) expected=flat ;; auto) expected=tree ;; *) expected=$wish ;; esac
  wait_until 20 model_is $expected
  step "$wish"
  slurmctld_log_is_clean
done

update_groups "$(group gb200 Compute $gb200 3 nvl)"
aws sagemaker update-cluster --cluster-name "$cluster" --instance-groups-to-delete p5
wait_until 30 slots_are 3
step "scaled down, and the others away"
expect_equal "the model of UltraServers" block "$(model)"
slurmctld_log_is_clean
let_go through
wait_until 20 job_is "$job" COMPLETED

delete_cluster
stop_service
