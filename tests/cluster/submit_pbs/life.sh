# shellcheck shell=bash disable=SC2154,SC2016,SC2034,SC2317,SC2329
# SPDX-License-Identifier: MIT
# Sourced by ../submit_pbs.sh: cancelling, holding, depending, following.

scenario_cancel_queued() {
  begin --queue stopped 1x1x1 -- true
  ddl status "$id"
  prints queued
  prints "starts none now"
  ddl cancel "$id"
  ends 0
  until_state "$id" F 60
  same "pbs_server has no exit status" "" "$(field "$id" Exit_status)"
  ddl wait "$id"
  ends 143
  says cancelled
}
scenario_cancel_running() {
  begin --name running 1x1x1 -- sleep 200
  until_state "$id" R 60
  ddl status "$id"
  prints running
  ddl cancel "$id"
  ends 0
  ddl wait "$id"
  ends 143
  until_state "$id" F 60
  ddl cancel "$id"
  ends 0
  says "is over already"
}
# An operator's qdel -W force drops the job without its end on the host.
scenario_deleted_by_force() {
  begin --name forced 1x1x1 -- sleep 200
  until_state "$id" R 60
  as_root node1 qdel -W force "$id" || fail "qdel -W force: $?"
  ddl wait "$id"
  ends 143
}
scenario_held() {
  printf 'directives: ["-h"]\nname: held\n' > "$lab_home/held.yaml"
  begin --job held.yaml 1x1x1 -- echo released
  ddl status "$id"
  prints held
  prints "qrls"
  same "pbs_server reports" "H u" "$(field "$id" job_state) $(field "$id" Hold_Types)"
  on node1 qrls "$id"
  ddl logs -f "$id"
  ends 0
  prints released
}
scenario_held_and_released_while_queued() {
  begin --queue stopped 1x1x1 -- true
  on node1 qhold "$id" || fail "qhold: $?"
  ddl status "$id" --json
  same "state" held "$(json 'j["state"]')"
  on node1 qrls "$id" || fail "qrls: $?"
  ddl status "$id" --json
  same "state" queued "$(json 'j["state"]')"
  ddl cancel "$id"
}
# qrerun puts a running job back; it begins again under its own id.
scenario_rerun() {
  begin --name rerun --requeue yes 1x1x1 -- sh -c 'echo "start $DDLRUN_RESTART_COUNT"; if [ ! -e rerun.once ]; then touch rerun.once; sleep 200; fi'
  until_state "$id" R 60
  begun_once() { [ -e "$lab_home/rerun.once" ]; }
  wait_until 60 begun_once || fail "it did not begin"
  as_root node1 qrerun "$id" || fail "qrerun: $?"
  ddl wait "$id"
  ends 0
  same "the log keeps both runs" 2 "$(log_of rerun | grep -c '^start')"
  same "pbs_server counts" 2 "$(field "$id" run_count)"
}
scenario_suspended() {
  begin --name asleep 1x1x1 -- sh -c 'while [ ! -e go.asleep ]; do sleep 0.2; done'
  until_state "$id" R 60
  as_root node1 qsig -s suspend "$id" || fail "qsig: $?"
  until_state "$id" S 60
  ddl status "$id"
  prints held
  as_root node1 qsig -s resume "$id" || fail "qsig: $?"
  on node1 touch go.asleep
  ddl wait "$id"
  ends 0
}
scenario_dependency() {
  begin 1x1x1 -- sh -c 'sleep 3; echo first >> order'
  local first=$id
  submit --dependencies "afterok:$first" 1x1x1 -- sh -c 'echo second >> order'
  ends 0
  same "in order" "first second" "$(xargs < "$lab_home/order")"
}
# PBS removes the second job; it has no exit status.
scenario_dependency_never() {
  begin 1x1x1 -- sh -c 'while [ ! -e go.dependency ]; do sleep 0.2; done; exit 1'
  local first=$id
  begin --dependencies "afterok:$first" 1x1x1 -- true
  ddl status "$id"
  prints held
  on node1 touch go.dependency
  ddl wait "$id"
  ends 143
  says "by its dependency afterok:${first%%.*}.node1"
  local waited=$id
  ddl status
  prints "by its dependency afterok"
  cp "$work/out" "$work/first"
  ddl status "$waited"
  same "the same reason in each call" "$(grep "^$waited" "$work/first" | sed 's/.*PBS removed/PBS removed/')" \
    "$(sed -n "s/^$waited .*PBS removed/PBS removed/p" "$work/out")"
  ddl logs "$waited"
  ends 3
  says "job $waited never started, so it has no output: PBS removed it"
}
# OpenPBS removes a job at once that waits for "24" where 24 is an array, or for a job that it does not have.
scenario_dependency_on_array() {
  begin --array 0-1 1x1x1 -- sh -c 'while [ ! -e go.array ]; do sleep 0.2; done; echo task >> order.array'
  local array=${id%%[*}
  begin --dependencies "afterok:$array" 1x1x1 -- sh -c 'echo after >> order.array'
  says "job $array is an array; PBS has it as $array[]"
  is_state "$id" H || fail "not held: $(field "$id" job_state)"
  on node1 touch go.array
  ddl wait "$id"
  ends 0
  same "after all tasks" "task task after" "$(xargs < "$lab_home/order.array")"
  for word in "$array[0]" 9999; do
    submit --dependencies "afterok:$word" 1x1x1 -- true
    ends 3
    says "dependencies afterok:$word: "
  done
}
# Lines come while the job runs, not at its end.
scenario_log_while_running() {
  on node1 env "${small[@]}" "$tool" submit --pbs --name live 1x1x1 -- \
    sh -c 'echo one; sleep 1; while [ ! -e go.live ]; do sleep 0.1; done; printf two' > "$work/out" 2> "$work/err" &
  wait_until 60 grep -qx one "$work/out" || fail "the first line did not come: $(cat "$work/err")"
  on node1 touch go.live
  wait $! || fail "status $?"
  same "all of it" "one two" "$(tail -n +2 "$work/out" | xargs)"
}
scenario_logs() {
  begin --name talker 1x1x1 -- sh -c 'echo early; while [ ! -e go.talker ]; do sleep 0.1; done; echo late; exit 6'
  local log=$id
  wait_until 60 said_early || fail "no line from ddlrun logs"
  on node1 "$tool" logs -f "$log" > "$work/follow" 2> "$work/err" &
  wait_until 60 grep -qx early "$work/follow" || fail "logs -f prints nothing"
  on node1 touch go.talker
  wait $!
  same "status of logs -f" 6 $?
  same "all of it" "early late" "$(xargs < "$work/follow")"
}
said_early() { [ "$(on node1 "$tool" logs "$log" 2> /dev/null)" = early ]; }

scenario_interrupted() {
  on node1 bash -c 'echo $$ > submitter.pid; exec "$@"' bash env "${small[@]}" "$tool" submit --pbs --name left 1x1x1 -- \
    sh -c 'echo begun; while [ ! -e go.left ]; do sleep 0.1; done; echo survived' > "$work/out" 2> "$work/err" &
  local submitter=$!
  wait_until 60 grep -qx begun "$work/out" || fail "it did not begin"
  id=$(head -n 1 "$work/out")
  on node1 bash -c 'kill -INT "$(cat submitter.pid)"' || fail "no submitter"
  wait "$submitter"
  same "status" 130 $?
  says "left alone"
  same "pbs_server reports" R "$(field "$id" job_state)"
  on node1 touch go.left
  ddl wait "$id"
  ends 0
  same "it went on" "begun survived" "$(log_of left | xargs)"
}
scenario_lists() {
  begin --name listed 1x1x1 -- true
  ddl jobs
  grep -qE "^ *$id " "$work/out" || fail "job $id is not in the list: $(cat "$work/out")"
  ddl wait "${id%%.*}"
  ends 0
  ddl jobs --json
  same "own jobs, fresh" completed "$(json "[x['state'] for x in d['jobs'] if x['id'] == '$id'][0]")"
}
scenario_resubmit() {
  submit --name again 1x1x1 -- sh -c 'echo again; exit 5'
  ends 5
  local first=$id
  run on node1 env "${small[@]}" "$tool" resubmit "$first"
  ends 5
  id=$(head -n 1 "$work/out")
  [ "$id" != "$first" ] || fail "it has the same id"
  same "pbs_server reports" "5 5" "$(field "$first" Exit_status) $(field "$id" Exit_status)"
}
