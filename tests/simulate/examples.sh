#!/usr/bin/env bash
# The built `espalier simulate` on its examples: figures that can be worked out by hand, and the same ones twice.
set -euo pipefail
espalier=$ESPALIER_BUILD/espalier
examples=$(dirname "$0")/../../examples/simulate
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

simulate() {  # NAME [OPTION…]  → $out/NAME.json, $out/NAME.svg
  "$espalier" simulate "$examples/$1.yaml" --json --plot "$out/$1.svg" "${@:2}" >"$out/$1.json"
}
holds() {  # NAME CONDITION  of the report, whose lives are c and a; m(…): in minutes
  jq -e "def m(time): time / 60000; def c: .lives[0]; def a: .lives[1]; $2" "$out/$1.json" >/dev/null ||
    { echo "$1: this does not hold: $2"; jq 'del(.lives[].timeline)' "$out/$1.json"; exit 1; }
}

# Boots take 4 minutes, setups half a minute, the controller comes first: 9 minutes to the first job on six of eight.
simulate rack-short
holds rack-short 'm(c.first_job) >= 8.5 and m(c.first_job) <= 10'
holds rack-short 'm(c.full_size) >= 184 and m(c.full_size) <= 186'
# All or nothing: nothing before the last two machines, which come after three hours; it has been given up before.
holds rack-short 'a.failed_creations > 0 and a.creations == a.failed_creations + 1'
holds rack-short 'm(a.first_job) >= 184 and a.first_job >= a.full_size'
# What is wished for is eight nodes for eight hours; three trainings of 12 node-hours and 14 evaluations of a third.
holds rack-short 'c.hours.wished == 64 and a.hours.wished == 64'
holds rack-short 'c.jobs.ended == 17 and (c.hours.used - 36 - 14 / 3 | fabs) < 0.1'
holds rack-short 'c.hours.used <= c.hours.ready and c.hours.ready <= c.hours.had and c.hours.had <= c.hours.wished'
grep -q 'prefers-color-scheme: dark' "$out/rack-short.svg"

simulate gb200 --mode continuous
holds gb200 'c.full_size > 5 * 3600000 and c.groups[0].launched == 54 and c.jobs.waiting == 0'

simulate failing --mode continuous
cp "$out/failing.json" "$out/first.json"
holds failing 'c.groups[0].died > 4 and c.groups[1].died == 1 and c.jobs.restarts > 0'
simulate failing --mode continuous
cmp "$out/first.json" "$out/failing.json"
simulate failing --mode continuous --seed 2
if cmp -s "$out/first.json" "$out/failing.json"; then echo "another seed, and the same report"; exit 1; fi

# What is wrong is said, with its line.
printf 'duration: 1h\ngroups: {g: {type: p5, count: 1}}\n' >"$out/wrong.yaml"
code=0
"$espalier" simulate "$out/wrong.yaml" 2>"$out/wrong" || code=$?
[ "$code" = 2 ] && grep -q "wrong.yaml: line 2: 'groups.g.type': there is no instance type 'p5'" "$out/wrong"
