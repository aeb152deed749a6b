# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit.sh: cancelling, holding, depending, following.

scenario_cancel_queued() {
  begin_never --qos normal --queue short --walltime 2h 1x1x1 -- true # its limit is a minute
  ddl cancel "$id"
  ends 0
  same "slurmctld says" CANCELLED "$(field "$id" JobState)"
  ddl wait "$id"
  ends 143
  says cancelled
}
scenario_cancel_running() {
  begin --name running 1x1x1 -- sleep 100
  until_state "$id" RUNNING
  ddl status "$id"
  prints running
  ddl cancel "$id"
  ends 0
  ddl wait "$id"
  ends 143
  until_state "$id" CANCELLED
  ddl cancel "$id"
  ends 0
  says "is over already: cancelled"
}
scenario_cancel_ended() {
  submit 1x1x1 -- true
  ddl cancel "$id"
  ends 0
  says "is over already: completed"
}
scenario_held() {
  mkdir "$work/held"
  printf 'directives: ["--hold"]\nname: held\n' > "$lab_home/held.yaml"
  begin --job held.yaml 1x1x1 -- echo released
  ddl status "$id"
  prints held
  same "slurmctld says" JobHeldUser "$(field "$id" Reason)"
  on node1 scontrol release "$id"
  ddl logs -f "$id"
  ends 0
  prints released
}
scenario_dependency() {
  begin 1x1x1 -- sh -c 'sleep 2; echo first >> order'
  local first=$id
  submit --dependencies "afterok:$first" 1x1x1 -- sh -c 'echo second >> order'
  ends 0
  same "in order" "first second" "$(xargs < "$lab_home/order")"
}
scenario_dependency_never() {
  begin 1x1x1 -- sh -c 'sleep 4; exit 1' # the second job must be handed in before it ends
  begin --dependencies "afterok:$id" 1x1x1 -- true
  wait_until 15 has_reason DependencyNeverSatisfied || fail "reason: $(field "$id" Reason)"
  ddl status "$id" --json
  same "reason" DependencyNeverSatisfied "$(json 'j["reason"]')"
  [ "$(json 'len(j["explained"])')" -gt 20 ] || fail "it is not explained"
  ddl cancel "$id"
  ends 0
}
# Lines come while the job runs, not at its end.
scenario_log_while_running() {
  on node1 env "${small[@]}" "$tool" submit --slurm --name live 1x1x1 -- \
    sh -c 'echo one; sleep 1; while [ ! -e go.live ]; do sleep 0.1; done; printf two' > "$work/out" 2> "$work/err" &
  wait_until 15 grep -qx one "$work/out" || fail "the first line did not come: $(cat "$work/err")"
  on node1 touch go.live
  wait $! || fail "status $?"
  same "all of it" "one two" "$(tail -n +2 "$work/out" | xargs)"
}
scenario_logs() {
  begin --name talker 1x1x1 -- sh -c 'echo early; while [ ! -e go.talker ]; do sleep 0.1; done; echo late; exit 6'
  local log=$id
  until_state "$log" RUNNING
  wait_until 10 said_early || fail "no line from ddlrun logs"
  on node1 "$tool" logs -f "$log" > "$work/follow" 2> "$work/err" &
  wait_until 10 grep -qx early "$work/follow" || fail "logs -f prints nothing"
  on node1 touch go.talker
  wait $!
  same "status of logs -f" 6 $?
  same "all of it" "early late" "$(xargs < "$work/follow")"
}
said_early() { [ "$(on node1 "$tool" logs "$log" 2> /dev/null)" = early ]; }

scenario_interrupted() {
  # shellcheck disable=SC2016
  run on node1 env "${small[@]}" timeout --preserve-status -s INT 4 "$tool" submit --slurm --name left 1x1x1 -- \
    sh -c 'sleep 6; echo survived'
  ends 130
  says "left alone"
  id=$(head -n 1 "$work/out")
  same "slurmctld says" RUNNING "$(field "$id" JobState)"
  ddl wait "$id"
  ends 0
  same "it went on" survived "$(log_of left)"
}
scenario_same_second() {
  local i
  for i in 1 2 3; do on node1 env "${small[@]}" "$tool" submit --slurm --detach --name twin 1x1x1 -- echo "$i" > "$work/$i" & done
  wait
  same "ids" 3 "$(cat "$work"/[123] | sort -u | wc -l)"
  same "directories" 3 "$(find "$lab_home/ddlrun-jobs" -maxdepth 1 -name 'twin-*' | wc -l)"
}
scenario_lists() {
  begin --name listed 1x1x1 -- true
  ddl jobs
  grep -qE "^ *$id " "$work/out" || fail "job $id is not in the list: $(cat "$work/out")"
  ddl jobs --json
  same "in the list" True "$(json "'$id' in [x['id'] for x in d['jobs']]")"
  ddl wait "$id"
  ddl status --json
  same "own jobs, fresh" completed "$(json "[x['state'] for x in d['jobs'] if x['id'] == '$id'][0]")"
}
