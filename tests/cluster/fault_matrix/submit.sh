# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Submission to a real Slurm: ddlrun or sbatch is killed at a system call. A job that sbatch did not take leaves at most
# its directory; one that it took runs to its end, with a whole script, whatever became of ddlrun.

[ -n "$full" ] || return 0
command -v slurmctld > /dev/null || { echo 'not tested: submit (no slurmctld here)'; return; }
slurm up 8 0 > "$work/slurm" 2>&1 || { fail "Slurm: $(tail -n 3 "$work/slurm")"; return; }
keep_as_before
submit_killed() { # NAME WORD N
  kill_at_call "$1" "$2" "$3" env DDLRUN_EXCLUSIVE=no DDLRUN_RUNNER=none DDLRUN_DOCTOR=off "$tool" submit --slurm --detach \
    --walltime 5m --dims 1x1x1 -- sh -c ': > ran-0'
  local directory
  for _ in $(seq 100); do [ -n "$(on node1 squeue -h)" ] || break; sleep 0.2; done
  for directory in "$lab_home"/ddlrun-jobs/*/; do
    [ -d "$directory" ] || continue
    [ ! -e "$lab_home/ran-0" ] || [ "$(cat "$directory/exit_status" 2> /dev/null)" = 0 ] || count lost "$name: $(ls "$directory")"
    [ ! -e "$directory/job.sh" ] || bash -n "$directory/job.sh" || count half "$name: $directory/job.sh"
  done
  rm -rf --one-file-system "$lab_home/ddlrun-jobs" "$lab_home"/ran-*
}
own_word=submit
for name_of in ddlrun\ submit sbatch\ -; do
  read -r process word <<< "$name_of"
  calls=$([ "$process" = ddlrun ] && echo 700 || echo 400)
  for ((n = 1; n <= calls; n += ${MATRIX_STEP:-7})); do
    row submit "$process killed" 'at each system call' '137|0|4' - submit_killed "$process" "$word" "$n"
  done
done
slurm down > /dev/null 2>&1
