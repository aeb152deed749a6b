# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit.sh: scenarios that break the lab, one after another.

stop_controller() {
  as_root node1 bash -c 'read -r pid < /run/slurmctld.pid; kill "$pid"; while kill -0 "$pid" 2> /dev/null; do sleep 0.02; done'
}
start_controller() {
  as_root node1 slurmctld > /dev/null 2>&1
  wait_until 20 on node1 squeue -h
}
scenario_controller_down_at_submit() {
  stop_controller
  on node1 "$tool" status 4711 > /dev/null 2>&1 & # Slurm's commands try for some 10 s
  submit 1x1x1 -- true
  ends 5
  says "try: "
  wait $!
  same "status while it is down" 5 $?
  start_controller || fail "slurmctld does not come back"
}
scenario_controller_down_while_following() {
  on node1 env "${small[@]}" "$tool" submit --slurm --name patient 1x1x1 -- \
    sh -c 'echo begun; while [ ! -e go.patient ]; do sleep 0.2; done; exit 3' > "$work/out" 2> "$work/err" &
  local submitter=$!
  wait_until 15 grep -qx begun "$work/out" || fail "it did not begin"
  stop_controller
  wait_until 40 grep -q 'tries again' "$work/err" || fail "the silence is not reported: $(cat "$work/err")"
  start_controller || fail "slurmctld does not come back"
  on node1 touch go.patient
  wait "$submitter"
  same "status" 3 $?
}
scenario_node_down() {
  on node1 env "${small[@]}" "$tool" submit --slurm --name lost --requeue no 1x1x1 node4 -- \
    sh -c 'echo begun; sleep 100' > "$work/out_lost" 2> "$work/err_lost" &
  local submitter=$!
  wait_until 15 grep -qx begun "$work/out_lost" || fail "it did not begin"
  begin --name moved --requeue yes 1x1x1 node3 -- sh -c 'echo "start $DDLRUN_RESTART_COUNT"; [ "$DDLRUN_RESTART_COUNT" -gt 0 ] || sleep 100'
  local moved=$id
  id=$(head -n 1 "$work/out_lost")
  until_state "$moved" RUNNING
  has_begun() { log_of moved | grep -q '^start 0'; }
  wait_until 15 has_begun || fail "moved did not begin"
  as_root node1 scontrol update nodename=node3,node4 state=down reason=test
  wait "$submitter"
  same "status" 5 $?
  cp "$work/err_lost" "$work/err"
  says "lost a host"
  same "slurmctld says" NODE_FAIL "$(field "$id" JobState)"
  as_root node1 scontrol update nodename=node3,node4 state=resume
  ddl wait "$moved"
  ends 0
  same "the other began again, where it was" "start 0 start 1" "$(log_of moved | grep '^start' | xargs)"
}
scenario_no_scheduler() {
  run on node2 env PATH=/nowhere "$tool" submit 1x1x1 --walltime 5m -- true
  ends 3
  says "neither sbatch nor qsub"
}
