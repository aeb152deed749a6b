# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit_pbs.sh: how jobs end, and the exit status for a shell.

ended_with() { # STATUS Exit_status PROGRAM...
  submit 1x1x1 -- "${@:3}"
  ends "$1"
  same "pbs_server reports" "F $2" "$(field "$id" job_state) $(field "$id" Exit_status)"
}
scenario_ends_well() {
  ended_with 0 0 echo "all is well"
  prints "all is well"
  same "stdout begins with the id and holds the log" "$id all is well" "$(xargs < "$work/out")"
  says "completed"
}
scenario_exit_3() {
  ended_with 3 3 sh -c 'exit 3'
  says "failed with exit status 3"
}
scenario_exit_127() {
  ended_with 127 127 sh -c 'exec ./no-such-program'
  says 127
}
scenario_exit_137() { ended_with 137 137 sh -c 'kill -KILL $$'; }
scenario_segv() {
  ended_with 139 139 sh -c 'kill -SEGV $$'
  says SEGV
}
scenario_diagnosed() {
  submit 1x1x1 -- sh -c 'echo "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB" >&2; exit 1'
  ends 1
  says "cause in the job's log"
  run on node1 bash -c 'exec "$1" diagnose ddlrun-jobs/sh-*/output.log' bash "$tool"
}
scenario_detach() {
  begin 1x1x1 -- sleep 30
  same "stdout is the id only" "$id" "$(cat "$work/out")"
  [[ $id =~ ^[0-9]+\.node1$ ]] || fail "no id: $id"
  same "pbs_server has it" sleep "$(field "$id" Job_Name)"
  ddl cancel "$id"
  ends 0
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
  local number=${id%%[*}
  same "pbs_server reports of task 2" 7 "$(field "${number}[2].node1" Exit_status)"
  ddl wait "${number}[2]"
  ends 7
  ddl logs "${number}[1]"
  ends 0
  same "the log of a task" "task 1" "$(cat "$work/out")"
  run on node1 env "${small[@]}" "$tool" resubmit "${number}[9]"
  ends 3
  run on node1 env "${small[@]}" "$tool" resubmit "${number}[2]"
  ends 7
  ddl status "$(head -n 1 "$work/out")" --json
  same "one task again" "failed 7" "$(json '" ".join(t["state"] + " " + str(t["exit_status"]) for t in j["tasks"])')"
}
# A centre's template for PBS, as the documents show it: the log grows while the job runs, and each task has a log of its own.
scenario_own_template() {
  local words=(--template plain.pbs --walltime 3m --queue cores --cores-per-node 1 1x1x1)
  cp "$DDLRUN_SOURCE_DIR/examples/site/templates/plain.pbs" "$lab_home/plain.pbs"
  on node1 bash -c 'cd && exec "$@" > templated.out 2> templated.err' bash "$tool" submit --pbs --name templated "${words[@]}" -- \
    sh -c 'echo "begins in $PWD"; while [ ! -e go.template ]; do sleep 0.2; done; exit 6' &
  wait_until 60 grep -q 'begins in' "$lab_home/templated.out" || fail "the log is not followed: $(cat "$lab_home/templated.err")"
  on node1 touch go.template
  wait $!
  same "the job's status" 6 $?
  grep -q "begins in $(on node1 pwd)" "$lab_home/templated.out" || fail "another directory: $(cat "$lab_home/templated.out")"
  same "its own file" 6 "$(cat "$lab_home"/ddlrun-jobs/templated-*/exit_status)"
  run on node1 "$tool" submit --pbs --name tasks --array 0-1 "${words[@]}" -- sh -c 'echo "task $PBS_ARRAY_INDEX"; exit $PBS_ARRAY_INDEX'
  ends 1
  same "the log of a task" "task 1" "$(grep ^task "$lab_home"/ddlrun-jobs/tasks-*/output.1.log)"
  same "the status of a task" 1 "$(cat "$lab_home"/ddlrun-jobs/tasks-*/exit_status.1)"
  local number
  number=$(head -n 1 "$work/out")
  ddl logs "${number%%[*}[0]"
  prints "task 0"
  run on node1 "$tool" submit --pbs --name one --array 2 "${words[@]}" -- true
  ends 0
}
# mpirun starts the ranks of the second host by ssh, where PBS sets none of the job's variables.
scenario_array_hosts() {
  begin --queue cores --runner ddlrun --name many --array 0-1 1x2x1 -- sh -c 'echo "index ${PBS_ARRAY_INDEX:-none} job ${PBS_JOBID:-none}"'
  ddl wait "$id"
  ends 0
  local number=${id%%[*} task
  for task in 0 1; do
    ddl logs "${number}[$task]"
    same "the two ranks of task $task" "2 index $task job ${number}[$task].node1" \
      "$(grep '^index ' "$work/out" | sort | uniq -c | tr -s ' ' | sed 's/^ //')"
  done
}
# After qdel of an array, OpenPBS 23.06 has the parent's attributes for tasks that ended before: their own files count.
scenario_array_cancelled() {
  begin --name part --array 0-3 1x1x1 -- sh -c '[ "$DDLRUN_ARRAY_INDEX" -ge 2 ] || exit "$DDLRUN_ARRAY_INDEX"; sleep 200'
  local number=${id%%[*}
  wait_until 60 is_state "${number}[1].node1" X || fail "task 1 is $(field "${number}[1].node1" job_state)"
  until_state "${number}[3].node1" R 60
  ddl cancel "$id"
  ends 0
  ddl wait "$id"
  ends 143
  until_state "$id" F 60
  ddl status "$id" --json
  same "tasks" "completed 0 failed 1 cancelled 143 cancelled 143" \
    "$(json '" ".join(t["state"] + " " + str(t["wait_status"]) for t in sorted(j["tasks"], key=lambda t: t["id"]))')"
}
# Tasks that only waited, while their array is being deleted and after that.
scenario_array_waits() {
  begin --queue cores --exclusive yes --name waits --array 0-3 1x2x1 -- sleep 200
  local number=${id%%[*}
  until_state "${number}[0].node1" R 60
  ddl status "$id"
  ! grep -q 'Began' "$work/out" || fail "the begin of the array is a reason to wait: $(cat "$work/out")"
  ddl cancel "$id"
  ends 0
  local at
  for at in 1 2 3; do
    ddl status "$id"
    same "tasks that waited, look $at" 3 "$(grep -c ' cancelled .*deleted before it started$' "$work/out")"
  done
  until_state "$id" F 60
  ddl status "$id"
  same "tasks that waited" 3 "$(grep -c ' cancelled .*deleted before it started$' "$work/out")"
  ddl diagnose "${number}[2]"
  prints 'cause: the job was cancelled: deleted before it started ['
}
# What is known only to the scheduler: who ended the job.
scenario_cancelled_diagnosed() {
  begin --name ended 1x1x1 -- sleep 200
  until_state "$id" R 60
  ddl cancel "$id"
  ends 0
  ddl wait "$id"
  ends 143
  ddl diagnose "$id"
  ends 1
  prints "the job was cancelled: terminated by ddl@node1"
}
# A job that was not submitted with ddlrun: its log is where the scheduler says.
scenario_plain_job() {
  printf '%s\n' '#!/bin/bash' '#PBS -N plain' '#PBS -j oe' '#PBS -l select=1:ncpus=1' 'python3 -c "{}[\"batch_size\"]"' > "$lab_home/plain.sh"
  run on node1 qsub plain.sh
  id=$(cat "$work/out")
  until_state "$id" F 60
  wait_until 20 test -s "$lab_home/plain.o${id%%.*}" || fail "no log of the plain job"
  ddl status "$id"
  prints " plain "
  ddl logs "$id"
  prints "KeyError: 'batch_size'"
  ddl diagnose "$id"
  ends 1
  prints "cause: KeyError: 'batch_size'"
}
