# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Sourced after lab_test.sh: which processes of the hosts a test left behind. The hosts' processes are listed from
# outside, by their process namespace.
#   know_hosts HOST...      before the others
#   everything              "HOST PID STATE NAME ARGUMENTS" of all processes in the hosts, as this machine numbers them
#   keep_as_before          what runs now is not left behind
#   wait_for_end SECONDS    until nothing is left, at most so long; sets $ended_after, what is left lies in $work/left
declare -A of_host
know_hosts() {
  local host
  for host in "$@"; do of_host[$(stat -L -c %i "/proc/$(lab pid "$host")/ns/pid")]=$host; done
}
everything() {
  local pid namespace state name arguments
  ps -eo pid=,pidns=,stat=,comm=,args= | while read -r pid namespace state name arguments; do
    [ -z "${of_host[$namespace]-}" ] || echo "${of_host[$namespace]} $pid $state $name $arguments"
  done
}
keep_as_before() { everything | cut -d' ' -f2 | sort > "$work/before"; }
list_left() { everything | sort -k2,2 | join -1 2 -2 1 -v 1 - "$work/before"; }
wait_for_end() {
  local start=$SECONDS
  while list_left > "$work/left"; [ -s "$work/left" ] && [ $((SECONDS - start)) -lt "$1" ]; do sleep 0.2; done
  ended_after=$((SECONDS - start))
}
