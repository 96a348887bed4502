#!/usr/bin/env bash
# kill -9 of the control plane at any moment: machines and jobs go on, it adopts them, nothing is launched twice.
# Slurm: both
. "$(dirname "$0")/lib.sh"

no_machine_twice() { expect_equal "machines of one name" "" "$(machines | awk '{ print $2 }' | sort | uniq -d)"; }
count_machines() { [ "$(machines | tee /dev/stderr | wc -l)" = "$1" ]; }

start_service
create_cluster "$(head_groups)" "$(group p5 Compute ml.p5.48xlarge 8 gpu)"
say "killed again and again while it grows"
for moment in 0.05 0.1 0.2 0.3 0.4 0.6 0.8 1.2; do
  sleep $moment  # no wait for a state: where in its work this hits is what the loop varies
  kill_service
  no_machine_twice
  start_service
done
wait_until 60 nodes_in idle 8
count_machines 10
no_machine_twice
before=$(machines)

say "jobs run to their end while there is no control plane"
job=$(submit "-N8 --gres=gpu:8 -p gpu -o /home/ubuntu/crash.out --wrap 'srun hostname; touch /home/ubuntu/done'")
kill_service
wait_until 20 on_login 'test -e /home/ubuntu/done'
expect_equal "what job $job wrote" 8 "$(on_login 'wc -l </home/ubuntu/crash.out')"
expect_equal "the machines" "$before" "$(machines)"

say "started again it adopts them"
start_service
wait_until 20 counts_are p5 8/8
wait_until 20 topology_is_true
expect_equal "the machines" "$before" "$(machines)"

say "a second control plane on the same state is refused"
expect_failure 1 "$state|another|in use|holds" serve --listen 127.0.0.1:0

say "killed while it scales and while it deletes"
update_groups "$(group p5 Compute ml.p5.48xlarge 10 gpu)"
kill_service
start_service
wait_until 60 nodes_in idle 10
no_machine_twice
aws sagemaker delete-cluster --cluster-name "$cluster"
kill_service
start_service
wait_until 60 is_gone
nothing_left
stop_service
