#!/usr/bin/env bash
# With 6 of 8 machines to be had, jobs run on what is there; the rest comes by itself when there is capacity again.
# Slurm: both
. "$(dirname "$0")/lib.sh"

# FailureMessage of the newest Error events about the group.
shortage_events() {
  local id
  for id in $(aws sagemaker list-cluster-events --cluster-name "$cluster" --instance-group-name p5 --max-results 20 |
    jq -r '[.Events[] | select(.EventLevel == "Error" or .EventLevel == "Warn")][:3][].EventId'); do
    aws sagemaker describe-cluster-event --cluster-name "$cluster" --event-id "$id"
  done
}

start_service
esp capacity set ml.p5.48xlarge=6
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 8 gpu)" "$(group c5 Compute ml.c5.4xlarge 1 cpu)"
wait_until 60 status_is InService
wait_until 60 nodes_in idle 7
wait_until 20 counts_are p5 6/8

say "an 8-node job is accepted and waits; a 6-node job behind it runs"
eight=$(submit "-N8 --gres=gpu:8 -p gpu --wrap 'srun hostname'")
others=$(for _ in 1 2 3; do submit "-N8 -p gpu --wrap 'srun hostname'"; done)
six=$(submit "-N6 --gres=gpu:8 -p gpu -t 10 --wrap 'srun hostname'")
wait_until 20 job_is "$six" COMPLETED
for job in $eight $others; do
  expect_equal "state of job $job" PENDING "$(job_state "$job")"
done
expect_equal "nodes held by the waiting jobs" "" "$(on_login "squeue -h -o %N" | tr -d '[:space:]')"

say "the shortage is told"
shortage='do not have sufficient capacity to launch new ml.p5.48xlarge'
expect_match "events of the group" "$shortage" "$(shortage_events)"
expect_match "messages of its pending nodes" "$shortage" \
  "$(aws sagemaker list-cluster-nodes --cluster-name "$cluster" --include-node-logical-ids --instance-group-name-contains p5)"

say "the other group is not held up by it"
update_groups "$(group c5 Compute ml.c5.4xlarge 3 cpu)"
wait_until 30 counts_are c5 3/3

say "two more machines"
esp capacity set ml.p5.48xlarge=8
wait_until 60 counts_are p5 8/8
for job in $eight $others; do
  wait_until 30 job_is "$job" COMPLETED
done

delete_cluster
stop_service
