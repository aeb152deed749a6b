# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit.sh: how jobs end, and the exit status for a shell.

ended_with() { # STATUS SLURM'S-EXITCODE STATE PROGRAM...
  submit 1x1x1 -- "${@:4}"
  ends "$1"
  same "slurmctld says" "$3 $2" "$(field "$id" JobState) $(field "$id" ExitCode)"
}
scenario_ends_well() {
  ended_with 0 0:0 COMPLETED echo "all is well"
  prints "all is well"
  same "stdout begins with the id and holds the log" "$id all is well" "$(xargs < "$work/out")"
  says "completed"
}
scenario_exit_1() { ended_with 1 1:0 FAILED false; }
scenario_exit_3() {
  ended_with 3 3:0 FAILED sh -c 'exit 3'
  says "failed with exit status 3"
}
scenario_exit_127() {
  ended_with 127 127:0 FAILED sh -c 'exec ./no-such-program'
  says 127
}
scenario_exit_137() { ended_with 137 137:0 FAILED sh -c 'kill -KILL $$'; }
scenario_segv() {
  ended_with 139 139:0 FAILED sh -c 'kill -SEGV $$'
  says SEGV
}
# Rank 0 is gone first: srun ends the ranks that are left when one fails, and answers the greatest status of all, theirs too.
scenario_srun_exit() {
  submit --runner srun --threads 1 1x2x1 -- sh -c 'sleep $((SLURM_PROCID * 2)); exit $((SLURM_PROCID * 5))'
  ends 5
}
scenario_diagnosed() {
  submit 1x1x1 -- sh -c 'echo "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB" >&2; exit 1'
  ends 1
  says "cause in the job's log"
}
scenario_detach() {
  local before
  before=$(now_ms)
  begin 1x1x1 -- sleep 20
  [ $(($(now_ms) - before)) -lt 8000 ] || fail "--detach took $(($(now_ms) - before)) ms"
  same "stdout is the id only" "$id" "$(cat "$work/out")"
  [[ $id =~ ^[0-9]+$ ]] || fail "no id: $id"
  same "slurmctld knows it" sleep "$(field "$id" JobName)"
  ddl cancel "$id"
}
scenario_wait_for_several() {
  begin 1x1x1 -- true
  local one=$id
  begin 1x1x1 -- sh -c 'exit 4'
  local two=$id
  begin 1x1x1 -- sh -c 'exit 6'
  ddl wait "$one" "$two" "$id"
  ends 4
}
scenario_array() {
  submit --name many --array 0-3 1x1x1 -- sh -c 'echo "task $DDLRUN_ARRAY_INDEX"; exit $((DDLRUN_ARRAY_INDEX == 2 ? 7 : 0))'
  ends 7
  ddl status "$id" --json
  same "tasks" "completed completed failed completed" \
    "$(json '" ".join(t["state"] for t in sorted(j["tasks"], key=lambda t: t["id"]))')"
  same "slurmctld says" 7:0 "$(field "${id}_2" ExitCode)"
  ddl wait "${id}_2"
  ends 7
  ddl logs "${id}_1"
  same "the log of a task" "task 1" "$(cat "$work/out")"
  run on node1 "$tool" resubmit "${id}_9"
  ends 3
  run on node1 "$tool" resubmit "${id}_2"
  ends 7
  ddl status "$(head -n 1 "$work/out")" --json
  same "one task again" "failed 7" "$(json '" ".join(t["state"] + " " + str(t["exit_status"]) for t in j["tasks"])')"
}
# What is known only to the scheduler: who ended the job.
scenario_cancelled_diagnosed() {
  begin --name ended 1x1x1 -- sleep 200
  until_state "$id" RUNNING 60
  ddl cancel "$id"
  ends 0
  ddl wait "$id"
  ends 143
  ddl diagnose "$id"
  ends 1
  prints "the job was cancelled"
}
# A job that was not submitted with ddlrun: its log is where the scheduler says.
scenario_plain_job() {
  printf '%s\n' '#!/bin/bash' '#SBATCH --job-name=plain' '#SBATCH -n 1' '#SBATCH -t 2' 'python3 -c "{}[\"batch_size\"]"' > "$lab_home/plain.sh"
  run on node1 sbatch --parsable plain.sh
  id=$(cat "$work/out")
  until_state "$id" FAILED 60
  wait_until 20 test -s "$lab_home/slurm-$id.out" || fail "no log of the plain job"
  ddl status "$id"
  prints " plain "
  ddl logs "$id"
  prints "KeyError: 'batch_size'"
  ddl diagnose "$id"
  ends 1
  prints "cause: KeyError: 'batch_size'"
}
