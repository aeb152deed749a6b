# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Sourced by slurm.sh and pbs.sh, with $here, their directory, and $count, the number of hosts.
on() { "$here/lab.sh" exec "$@"; }
each_host() { # FUNCTION: at once on all hosts, false if it failed on one
  local index jobs=() job failed=0
  for ((index = 1; index <= count; index++)); do
    "$1" "$(host_name "$index")" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || failed=1; done
  return "$failed"
}
