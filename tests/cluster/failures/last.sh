# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Faults after which others could not run, and the one that takes a minute by itself.
needs=slurm
kind slurm_time_limit F15 "$h3" - "the job runs into its time limit of a minute"
slow slurm_time_limit
prepare_slurm_time_limit() {
  printf '#!/bin/bash\nsrun sleep 300\n' | home_file long.sh
  on "$h1" sbatch -t 1 -w "$h3" --output=long.out long.sh > "$work/long.words" 2>&1
}
break_slurm_time_limit() {
  local polls=0
  while ! grep -qs 'TIME LIMIT' "$home/long.out" && [ $((++polls)) -lt 400 ]; do sleep 0.5; done
  sleep 1
  cat "$work/long.words" "$home/long.out" > "$log"
  status=1
}
kind slurm_node_down F17 "$h2" - "a node is set down while its step runs"
break_slurm_node_down() {
  as_root "$h1" sh -c 'sleep 1.5; scontrol update NodeName="$1" State=DOWN Reason=power' sh "$h2" &
  undo wait "$!"
  undo as_root "$h1" sh -c 'scontrol update NodeName="$1" State=RESUME 2> /dev/null' sh "$h2" # unless it is back already
  broken srun -N 2 -w "$h1,$h2" sleep 20
}
kind slurm_controller_down F25 - - "no slurmctld"
break_slurm_controller_down() {
  as_root "$h1" sh -c 'kill "$(cat /run/slurmctld.pid)"; while pgrep -x slurmctld; do sleep 0.1; done' > /dev/null
  undo as_root "$h1" slurmctld
  script hostname
  batch
}
needs=hosts
kind host_dies "X46|C12" "$h2" - "a host is switched off during the run"
in_mpi_5 host_dies "X46|Z14" "$h2"
break_host_dies() { switch_off_during "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" bin/worker sleep 20; }
switch_off_during() {
  (
    wait_until 10 as_root "$h2" pgrep -x worker
    sleep 1.5
    lab stop "$h2"
  ) > /dev/null 2>&1 &
  local killer=$!
  broken "$@"
  wait "$killer"
  undo lab start "$h2"
}
