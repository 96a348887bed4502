#!/usr/bin/env bash
# UltraServers: Slurm knows the block of every slot from its declaration, whatever is up. Jobs of every size are taken,
# wait, and run inside the NVLink domains that they asked for.
# Slurm: both
. "$(dirname "$0")/lib.sh"

type=ml.p6e-gb200.36xlarge
# Two racks that fill side by side: 12 + 12 machines first, then the rest. A third makes their number no power of two.
fabric=$stage/fabric.yaml
cat >"$fabric" <<END
leaves:
  - {path: [core, spine, rack-1], machines: 12, domain: nvl-1, instance_type: $type}
  - {path: [core, spine, rack-2], machines: 12, domain: nvl-2, instance_type: $type}
  - {path: [core, spine, rack-1], machines: 6, domain: nvl-1, instance_type: $type}
  - {path: [core, spine, rack-2], machines: 6, domain: nvl-2, instance_type: $type}
  - {path: [core, spine, rack-3], machines: 18, domain: nvl-3, instance_type: $type}
END

# "BLOCK NODE" as slurmctld has it, without the names that fill short blocks.
slurm_blocks() {
  on_login "scontrol show topology | sed -nE 's/^BlockName=([^ ]+) .*Nodes=([^ ]+).*/\1 \2/p' |
    while read -r block nodes; do scontrol show hostnames \"\$nodes\" | sed \"s/^/\$block /\"; done" | grep -v ' pad_'
}
# "NODE DOMAIN" of the machines that there are.
domains() { esp nodes "$cluster" --json | jq -r '.Nodes[] | select(.Domain) | "\(.NodeName) \(.Domain)"'; }
# Every slot is in one block of 18 at most, and no block has machines of two domains.
blocks_are_true() {
  slurm_blocks | tee $stage/blocks | awk '{ print $2 }' | sort | uniq -d | { ! grep .; } || return 1
  [ "$(wc -l <$stage/blocks)" = "$1" ] || { cat $stage/blocks; return 1; }
  awk '{ size[$1]++ } END { for (block in size) if (size[block] > 18) { print block, size[block]; exit 1 } }' $stage/blocks
  domains | sort >$stage/domains
  awk '{ print $2, $1 }' $stage/blocks | sort | join - $stage/domains | awk '{ print $2, $3 }' | sort -u |
    awk '{ if (seen[$1]++ || taken[$2]++) { print "mixed:", $0; exit 1 } }'
}

# accepted JOB…: sbatch takes each of these jobs; they are cancelled again.
accepted() {
  local job
  for job in "$@"; do on_login "scancel \$(sbatch --parsable -p nvl $job --wrap true)" || fail "refused: $job"; done
}
# The counts of nodes, up to $1, that sbatch refuses.
refused() {
  on_login "for n in \$(seq $1); do job=\$(sbatch --parsable -p nvl -N\$n --wrap true) && scancel \$job || echo \$n; done" |
    paste -sd' '
}
every_shape=("-N16" "-N18" "-N36" "-N16 --segment=8" "-N32 --segment=16" "-N36 --segment=18")

# spread JOB: how many of its nodes are in which domain: "8 nvl-1, 8 nvl-2".
spread() {
  local nodes
  nodes=$(on_login "scontrol show hostnames \$(scontrol -o show job $1 | grep -oE ' NodeList=[^ ]+' | cut -d= -f2)")
  join <(sort <<<"$nodes") <(domains | sort) | awk '{ print $2 }' | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd, |
    sed 's/,/, /g'
}
explained() { esp explain "$cluster" "$1" | tee /dev/stderr | grep -E -- "$2" >/dev/null; }  # JOB REGEX
# imex_knows NODE COUNT: nvidia-imex finds the addresses of so many machines on it, all of that node's domain.
imex_knows() {
  local domain
  domain=$(domains | awk -v node="$1" '$1 == node { print $2 }')
  diff <(on "$1" 'sort /etc/nvidia-imex/nodes_config.cfg') \
    <(esp nodes "$cluster" --json | jq -r --arg d "$domain" '.Nodes[] | select(.Domain == $d) | .Address' | sort) >&2 &&
    [ "$(on "$1" 'wc -l </etc/nvidia-imex/nodes_config.cfg')" = "$2" ]
}
# slurmctld has looked at it, and it waits.
has_to_wait() { on_login "squeue -h -j $1 -o '%T %r'" | tee /dev/stderr | grep -E '^PENDING [^N]'; }
run_job() { submit "-p nvl $1 -t 5 --wrap 'srun true'"; }

start_service --fabric "$fabric"
esp capacity set $type=0
create_cluster "$(head_groups)" "$(group gb200 Compute $type 54 nvl)"
wait_until 60 status_is InService

say "0 of 54 slots have a machine"
wait_until 20 blocks_are_true 54
accepted "${every_shape[@]}"
expect_equal "refused counts of nodes" "" "$(refused 54)"
expect_match "the model and why" '"Model": *"block"' "$(esp topology show "$cluster" --json)"

say "1 of 54"
esp capacity set $type=1
wait_until 60 nodes_in idle 1
wait_until 20 blocks_are_true 54
accepted "${every_shape[@]}"

say "12 + 12 of 54"
esp capacity set $type=24
wait_until 90 nodes_in idle 24
wait_until 20 blocks_are_true 54
accepted "${every_shape[@]}"
whole=$(run_job "-N18")
halves=$(run_job "-N16 --segment=8")
wait_until 30 job_is "$halves" COMPLETED
expect_equal "domains of -N16 --segment=8" "8 nvl-1, 8 nvl-2" "$(spread "$halves")"
expect_equal "-N18 waits for a rack" PENDING "$(job_state "$whole")"
wait_until 20 explained "$whole" 'no NVLink domain has 18 free: the most are 12'
explained "$whole" '^--segment=9 would run now$'
ninths=$(run_job "-N18 --segment=9")
wait_until 30 job_is "$ninths" COMPLETED
expect_equal "domains of what was said to run" "9 nvl-1, 9 nvl-2" "$(spread "$ninths")"

say "35 of 54"
esp capacity set $type=35
wait_until 90 nodes_in idle 35
wait_until 20 blocks_are_true 54
accepted "${every_shape[@]}"
wait_until 30 job_is "$whole" COMPLETED
expect_match "domains of -N18" '^18 nvl-[12]$' "$(spread "$whole")"
large=$(run_job "-N32 --segment=16")
wait_until 30 job_is "$large" COMPLETED
expect_equal "domains of -N32 --segment=16" "16 nvl-1, 16 nvl-2" "$(spread "$large")"
all=$(run_job "-N36 --segment=18")

say "two racks of three"
esp capacity set $type=36
wait_until 60 job_is "$all" COMPLETED
expect_equal "domains of -N36 --segment=18" "18 nvl-1, 18 nvl-2" "$(spread "$all")"
wait_until 20 blocks_are_true 54
wait_until 20 imex_knows gb200-1 18
wait_until 20 imex_knows gb200-36 18

say "--exclusive=topo has its whole NVLink domain"
alone=$(held_job alone "-p nvl -N4 --exclusive=topo")
wait_until 20 job_is "$alone" RUNNING
expect_match "domains of -N4 --exclusive=topo" '^4 nvl-[12]$' "$(spread "$alone")"
own=$(spread "$alone")
own=${own#4 }
other=nvl-$((3 - ${own#nvl-}))
beside=$(held_job beside "-p nvl -N14 --exclusive")
wait_until 20 job_is "$beside" RUNNING
expect_equal "domains of -N14 beside it" "14 $other" "$(spread "$beside")"
# 14 nodes of the first one's domain have no job, but they are its.
fifth=$(run_job "-N5 --exclusive")
second=$(run_job "-N4 --exclusive=topo")
wait_until 20 has_to_wait "$fifth"
wait_until 20 has_to_wait "$second"
let_go alone
wait_until 30 job_is "$fifth" COMPLETED
expect_equal "domains of -N5 after it" "5 $own" "$(spread "$fifth")"
wait_until 30 job_is "$second" COMPLETED
expect_equal "domains of the second -N4 --exclusive=topo" "4 $own" "$(spread "$second")"
let_go beside
wait_until 30 job_is "$beside" COMPLETED

say "all"
esp capacity set $type=54
wait_until 60 nodes_in idle 54
wait_until 20 blocks_are_true 54
expect_equal "refused counts of nodes" "" "$(refused 54)"
all=$(run_job "-N54 --segment=18")
wait_until 30 job_is "$all" COMPLETED
expect_equal "domains of -N54 --segment=18" "18 nvl-1, 18 nvl-2, 18 nvl-3" "$(spread "$all")"
rack=$(run_job "-N18")
wait_until 30 job_is "$rack" COMPLETED
expect_match "domains of -N18" '^18 nvl-[123]$' "$(spread "$rack")"
pair=$(run_job "-N36")
wait_until 30 job_is "$pair" COMPLETED
expect_equal "domains of -N36 are neighbours" "18 nvl-1, 18 nvl-2" "$(spread "$pair")"
slurmctld_log_is_clean

delete_cluster
stop_service
