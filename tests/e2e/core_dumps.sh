#!/usr/bin/env bash
# What knows secrets leaves no core dump, whatever the limits of the shell that it was started from.
. "$(dirname "$0")/lib.sh"

mkdir $stage/cores
cd $stage/cores
ulimit -c unlimited
# dumped READY COMMAND…: starts it, kills it with SIGABRT once the shell text READY holds, and prints whether the kernel
# dumped it. waitpid(2) tells, wherever this host's dumps go.
dumped() {
  # shellcheck disable=SC2016  # for perl
  perl -we 'my $ready = shift; my $child = fork // die; if (!$child) { exec @ARGV or die }
    for (1 .. 500) { select undef, undef, undef, 0.02; last if system("$ready >>/dev/null 2>&1") == 0 }
    kill ABRT => $child; waitpid $child, 0;
    die "it ended with $?" if ($? & 127) != 6;
    print $? & 128 ? "yes" : "no"' "$@" 2>>$stage/serve.log
}

expect_equal "any other program" yes "$(dumped "pgrep -x sleep" sleep 60)"
expect_equal "the control plane" no "$(dumped "curl -sf -H 'X-Amz-Target: Espalier.DescribeService' -d '{}' $endpoint" \
  "$ESPALIER_BUILD/espalier" serve --state $state --listen 127.0.0.1:8650 --image "$ESPALIER_NODE_IMAGE")"
mkfifo $stage/user-data  # nobody writes what it waits for
expect_equal "a machine's agent" no "$(dumped "grep 'State:.S' /proc/\$(pgrep -x espalier-agent)/status" \
  "$ESPALIER_BUILD/espalier-agent" run --user-data $stage/user-data)"
