# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit_pbs.sh: scenarios that break the lab, one after another.

stop_server() { as_root node1 qterm -t quick; wait_until 60 server_is_down; }
server_is_down() { ! on node1 qstat -B; }
start_server() { pbs host server && wait_until 60 on node1 qstat -B; }
scenario_server_down_at_submit() {
  stop_server || fail "pbs_server does not end"
  submit --cores-per-node 68 1x1x1 -- true
  ends 5
  says "try: "
  submit 1x1x1 -- true
  ends 2
  says "pbsnodes reports \"Connection refused; cannot connect to server node1"
  ddl status 4711
  ends 5
  start_server || fail "pbs_server does not come back"
}
scenario_server_down_while_following() {
  on node1 env "${small[@]}" "$tool" submit --pbs --name patient 1x1x1 -- \
    sh -c 'echo begun; while [ ! -e go.patient ]; do sleep 0.2; done; exit 3' > "$work/out" 2> "$work/err" &
  local submitter=$!
  wait_until 60 grep -qx begun "$work/out" || fail "it did not begin"
  stop_server || fail "pbs_server does not end"
  wait_until 90 grep -q 'tries again' "$work/err" || fail "the silence is not reported: $(cat "$work/err")"
  start_server || fail "pbs_server does not come back"
  on node1 touch go.patient
  wait "$submitter"
  same "status" 3 $?
  says "answers again"
}
# A job of higher priority takes the host; the other is suspended and goes on.
scenario_preempted() {
  as_root node1 qmgr -c 'create queue express queue_type=e, enabled=t, started=t, priority=200' || fail "qmgr: $?"
  begin --name low 1x1x1 node2 --exclusive yes --cores-per-node 68 -- sh -c 'while [ ! -e go.low ]; do sleep 0.2; done'
  local low=$id
  until_state "$low" R 60
  begin --name high --queue express 1x1x1 node2 --exclusive yes --cores-per-node 68 -- sh -c 'while [ ! -e go.high ]; do sleep 0.2; done'
  local high=$id
  until_state "$high" R 60
  ddl status "$low"
  prints held
  on node1 touch go.high
  ddl wait "$high"
  ends 0
  until_state "$low" R 60
  on node1 touch go.low
  ddl wait "$low"
  ends 0
}
# The host dies while the job runs there. The one may not run again; the other begins anew.
scenario_host_lost() {
  on node1 env "${small[@]}" "$tool" submit --pbs --name lost --requeue no 1x1x1 node4 -- \
    sleep 300 > "$work/out_lost" 2> "$work/err_lost" &
  local submitter=$!
  wait_until 60 grep -q node1 "$work/out_lost" || fail "no id: $(cat "$work/err_lost")"
  id=$(head -n 1 "$work/out_lost")
  until_state "$id" R 60
  lab stop node4
  wait "$submitter"
  same "status" 5 $?
  cp "$work/err_lost" "$work/err"
  says "lost a host"
  says "ddlrun doctor node4"
  ! grep -q '^cause' "$work/err" || fail "a cause is made up: $(cat "$work/err")"
  lab start node4 || fail "node4 does not come back"
  pbs host node4 || fail "pbs_mom of node4 does not come back"
}
