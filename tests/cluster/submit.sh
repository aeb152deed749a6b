#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2030,SC2031,SC2034 # scenarios are subshells with a count of their own, in other files
# `ddlrun submit` and its kin against a real Slurm on 4 hosts of 68 faked cores and 4 faked GPUs. Each function
# scenario_* of submit/*.sh is a scenario: what ddlrun says is held against slurmctld and against the ranks.
# Those of submit/trouble.sh break the lab and run one after another at the end; the others side by side.
#   submit.sh [NAME...]   only these; LAB_AT_ONCE (6) side by side
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
export LAB_SLURM_REQUEUE_AFTER=5 LAB_SLURM_KILLWAIT=2 LAB_SLURM_MINJOBAGE=30
export LAB_SLURM_MORE="PartitionName=short Nodes=node[1-4] MaxTime=00:01:00 State=UP"
command -v slurmctld > /dev/null || { echo "skipped: no slurmctld here"; exit 125; }
lab_up 4
begun=$(now_ms)
slurm up 68 4 > "$work/slurm" 2>&1 || { tail -n 3 "$work/slurm"; exit 1; }
jobs_directory=/home/ddl/ddlrun-jobs

# What scenarios share; each runs in a subshell with a $work of its own.
small=(DDLRUN_EXCLUSIVE=no DDLRUN_RUNNER=none DDLRUN_DOCTOR=off DDLRUN_WALLTIME=5m)
# submit WORDS...: `ddlrun submit` of a small job; status in $status, id in $id, streams in $work/out and err
submit() {
  run on node1 env "${small[@]}" "$tool" submit --slurm "$@"
  id=$(head -n 1 "$work/out")
}
# begin WORDS...: the same with --detach, which must succeed
begin() {
  submit --detach "$@"
  [ "$status" -eq 0 ] || fail "submit --detach ends with $status: $(tail -n 3 "$work/err")"
}
# A job that can never run: --detach reports it at once and leaves it in the queue.
begin_never() {
  submit --detach "$@"
  ends 4
  says "can never run"
}
ddl() { run on node1 "$tool" "$@"; }
# field ID NAME: what slurmctld says
field() { on node1 scontrol -o show job "$1" 2> /dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }
is_state() { [ "$(field "$1" JobState)" = "$2" ]; }
until_state() { wait_until "${3:-20}" is_state "$1" "$2" || fail "job $1 is $(field "$1" JobState), not $2"; }
ends() { [ "$status" -eq "$1" ] || fail "status $status, not $1: $(tail -n 4 "$work/err")"; }
says() { grep -qF -- "$1" "$work/err" || fail "no '$1' on stderr: $(tail -n 5 "$work/err")"; }
prints() { grep -qF -- "$1" "$work/out" || fail "no '$1' on stdout: $(tail -n 5 "$work/out")"; }
log_of() { cat "$lab_home/ddlrun-jobs/$1"-*/output.log; }
json() { python3 -c 'import json, sys
d = json.load(open(sys.argv[1])); assert d["schema"] == "ddlrun.status/1"
print(eval(sys.argv[2], {"d": d, "j": d["jobs"][0] if d["jobs"] else None}))' "$work/out" "$1"; }

for file in "$lab_tests"/submit/*.sh; do
  # shellcheck source=/dev/null
  . "$file"
done

results=$work/results
mkdir "$results"
one() { # NAME
  local start
  start=$(now_ms)
  (
    failures=0
    work=$results/$1.files
    mkdir "$work"
    "scenario_$1"
    exit $((failures > 0))
  ) > "$results/$1.said" 2>&1
  echo "$? $(($(now_ms) - start))" > "$results/$1.status"
}

wanted=("$@")
is_wanted() { [ "${#wanted[@]}" -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }
names_in() { sed -n 's/^scenario_\([a-z0-9_]*\)() .*/\1/p' "$@"; }
for name in $(names_in "$lab_tests"/submit/{a_slow,ends,inside,life,refusals,template}.sh); do # the slow ones stand first, in a_slow.sh
  is_wanted "$name" || continue
  while [ "$(jobs -rp | wc -l)" -ge "${LAB_AT_ONCE:-6}" ]; do sleep 0.05; done
  one "$name" &
done
wait
for name in $(names_in "$lab_tests"/submit/trouble.sh); do
  is_wanted "$name" && one "$name"
done

total=0
for file in "$results"/*.status; do
  name=$(basename "$file" .status)
  read -r bad spent < "$file"
  total=$((total + 1))
  [ "$bad" -eq 0 ] && { echo "ok   $name ($spent ms)"; continue; }
  fail "$name ($spent ms)"
  sed 's/^/     /' "$results/$name.said"
done
echo "$total scenarios, $failures failed, in $((($(now_ms) - begun) / 1000)) s"
finish
