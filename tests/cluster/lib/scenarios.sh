# shellcheck shell=bash disable=SC2154,SC2030,SC2031,SC2034 # scenarios are subshells with a count of their own, in other files
# SPDX-License-Identifier: MIT
# Sourced by submit.sh and submit_pbs.sh, on top of lab_test.sh: what scenarios share, and run_scenarios. Each scenario is
# a function scenario_NAME and runs in a subshell with a $work of its own. $scheduler is --slurm or --pbs; `field ID NAME`
# and `is_state ID STATE` read what the scheduler reports.
jobs_directory=/home/ddl/ddlrun-jobs
small=(DDLRUN_EXCLUSIVE=no DDLRUN_RUNNER=none DDLRUN_DOCTOR=off DDLRUN_WALLTIME=5m)
# submit WORDS...: `ddlrun submit` of a small job; status in $status, id in $id, streams in $work/out and err
submit() {
  run on node1 env "${small[@]}" "$tool" submit "$scheduler" "$@"
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
# refused STATUS TEXT WORDS...: nothing is submitted, and the message has TEXT and a remedy.
refused() {
  submit "${@:3}" -- true
  ends "$1"
  says "$2"
  says "try: "
  [ ! -s "$work/out" ] || fail "stdout holds $(cat "$work/out")"
}
ddl() { run on node1 "$tool" "$@"; }
until_state() { # ID STATE [SECONDS]
  wait_until "${3:-20}" is_state "$1" "$2" || fail "job $1 is $(field "$1" "$state_field"), not $2"
}
ends() { [ "$status" -eq "$1" ] || fail "status $status, not $1: $(tail -n 4 "$work/err")"; }
says() { grep -qF -- "$1" "$work/err" || fail "no '$1' on stderr: $(tail -n 5 "$work/err")"; }
prints() { grep -qF -- "$1" "$work/out" || fail "no '$1' on stdout: $(tail -n 5 "$work/out")"; }
log_of() { cat "$lab_home/ddlrun-jobs/$1"-*/output.log; }
json() { python3 -c 'import json, sys
d = json.load(open(sys.argv[1])); assert d["schema"] == "ddlrun.status/1"
print(eval(sys.argv[2], {"d": d, "j": d["jobs"][0] if d["jobs"] else None}))' "$work/out" "$1"; }

one_scenario() { # NAME
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
names_in() { sed -n 's/^scenario_\([a-z0-9_]*\)() .*/\1/p' "$@"; }

# run_scenarios DIRECTORY [NAME...]: those of trouble.sh break the lab and run one after another at the end, the others
# side by side: a_slow.sh first.
run_scenarios() {
  local directory=$1 file name bad spent total=0 begun
  shift
  begun=$(now_ms)
  results=$work/results
  mkdir "$results"
  for file in "$directory"/*.sh; do
    # shellcheck source=/dev/null
    . "$file"
  done
  is_wanted() { [ "${#wanted[@]}" -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }
  local wanted=("$@") side_by_side=()
  for file in "$directory"/*.sh; do [[ $file == */trouble.sh ]] || side_by_side+=("$file"); done
  for name in $(names_in "${side_by_side[@]}"); do
    is_wanted "$name" || continue
    while [ "$(jobs -rp | wc -l)" -ge "${LAB_AT_ONCE:-6}" ]; do sleep 0.05; done
    one_scenario "$name" &
  done
  wait
  for name in $(names_in "$directory/trouble.sh"); do
    is_wanted "$name" && one_scenario "$name"
  done
  for file in "$results"/*.status; do
    name=$(basename "$file" .status)
    read -r bad spent < "$file"
    total=$((total + 1))
    [ "$bad" -eq 0 ] && { echo "ok   $name ($spent ms)"; continue; }
    fail "$name ($spent ms)"
    sed 's/^/     /' "$results/$name.said"
  done
  echo "$total scenarios, $failures failed, in $((($(now_ms) - begun) / 1000)) s"
}
