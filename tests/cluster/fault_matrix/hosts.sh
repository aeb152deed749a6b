# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# A host freezes and comes back: every process of node2 is stopped. After 30 s its ssh and Open MPI take it for lost.

processes_of() { everything | awk -v host="$1" '$1 == host { print $2 }'; }
freeze() { # HOST SECONDS
  local pids
  mapfile -t pids < <(processes_of "$1")
  kill -STOP "${pids[@]}"
  sleep "$2"
  kill -CONT "${pids[@]}" 2> /dev/null
}
launch_frozen() { # SECONDS LAUNCH OPTIONS...
  (sleep 2; freeze node2 "$1") 2> /dev/null &
  local frozen=$!
  launch "${@:2}" -- ./rank $((($1 + 3) * 10))
  wait "$frozen"
}
# The last lines of all ranks are there.
launch_thawed() {
  launch_frozen "$@"
  [ "$(grep -c '^end$' "$work/job.out")" -eq 2 ] || count lost "$name: $(grep -c '^end$' "$work/job.out") of 2 last lines"
}
row launch 'a host freezes' 'for 5 s' 0 - launch_thawed 5
[ -z "$full" ] || {
  row launch 'a host freezes' 'for 20 s' 0 'host node2 reports again' launch_thawed 20
  patience=120 within=60
  row launch 'a host freezes' 'for 60 s' 5 'host node2 was lost' launch_frozen 60
  row 'launch, ssh' 'a host freezes' 'for 5 s' 0 - launch_thawed 5 --launcher ssh
  row 'launch, ssh' 'a host freezes' 'for 20 s' 0 'host node2 reports again' launch_thawed 20 --launcher ssh
  row 'launch, ssh' 'a host freezes' 'for 60 s' 5 'host node2 was lost' launch_frozen 60 --launcher ssh
  patience='' within=''
}

doctor_frozen() {
  (freeze node2 "$1") 2> /dev/null &
  local frozen=$!
  sleep 0.2
  doctor
  wait "$frozen"
}
[ -z "$full" ] || row doctor 'a host freezes' 'for 5 s' '0|1' 2\ hosts doctor_frozen 5
[ -z "$full" ] || row doctor 'a host freezes' 'for 20 s' '0|1|5' node2 doctor_frozen 20
patience=120
[ -z "$full" ] || row doctor 'a host freezes' 'for 60 s' 5 node2 doctor_frozen 60
patience=''
