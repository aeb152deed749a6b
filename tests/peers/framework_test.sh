# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced by the tests of frameworks, on top of lab_test.sh: DDLRUN_PEERS=all installs GBs, and else they are skipped.
[ "${DDLRUN_PEERS-}" = all ] || { echo "skipped: GBs of wheels; DDLRUN_PEERS=all runs it"; exit 125; }
peers=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=tests/cluster/lab_test.sh
. "$peers/../cluster/lab_test.sh"
# shellcheck source=tests/cluster/lib/leftovers.sh
. "$lab_tests/lib/leftovers.sh"
LAB_PATIENCE=600
mapfile -t cpus < <(for core in 0 1; do hwloc-calc --po -I pu "core:$core" 2> /dev/null; done)
[ -n "${cpus[1]-}" ] || { echo "skipped: two cores are needed, and hwloc-calc"; exit 125; }

# framework_up PEER HOSTS FILE...: the hosts, $python with the wheels, and copies of the files in the home.
framework_up() {
  place=$("$peers/install.sh" "$1") || { status=$?; echo "$place"; exit "$status"; }
  python=$place/bin/python
  lab_up "$2"
  for ((index = 1; index <= $2; index++)); do know_hosts "node$index"; done
  cp "${@:3}" "$lab_home"
}

# launch WORDS...: a launch of ranks with one core each, which ends well and leaves no process. $settings: variables for it.
settings=()
launch() {
  local left
  run on node1 env "${settings[@]}" "$tool" launch --cores-per-rank 1 "${settings[@]/#/-x}" "$@"
  [ "$status" -eq 0 ] || fail "status $status: $*: $(tail -n 15 "$work/err")"
  left=$(everything | grep -F "$python")
  same "processes that are left by $1" "" "$left"
}

# compare NAME COMMAND...: a judge, which prints the result or what differs.
compare() {
  if "${@:2}" > "$work/judged" 2>&1; then echo "$1: $(cat "$work/judged")"; else fail "$1: $(tail -n 20 "$work/judged")"; fi
}
