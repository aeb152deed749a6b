# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit.sh: scenarios that wait for Slurm's own minutes. They begin first.

scenario_time_limit() {
  submit --name limit --walltime 1m 1x1x1 -- sh -c 'echo begun; sleep 200'
  ends 124
  says "used up its time limit"
  prints begun
  same "slurmctld says" TIMEOUT "$(field "$id" JobState)"
  wait_until 150 forgotten "$id" || fail "job $id is still known to slurmctld"
  ddl wait "$id"
  ends 124
  ddl status "$id" --json
  same "the state after slurmctld has forgotten it" "timed out 124" "$(json 'j["state"] + " " + str(j["wait_status"])')"
  ddl jobs --limit 0 --json
  same "the state in the list" "timed out" "$(json '[x["state"] for x in d["jobs"] if x["id"] == "'"$id"'"][0]')"
}

# The program saves on USR1 and asks to go on; the second start finds what was saved.
scenario_signal_requeue_resume() {
  cat > "$lab_home/saver.sh" << 'PROGRAM'
#!/bin/bash
echo "start $DDLRUN_RESTART_COUNT"
[ ! -e saved ] || { echo "resumed from $(cat saved)"; exit 0; }
trap 'echo 42 > saved; echo saved; exit 75' USR1
for _ in $(seq 200); do sleep 0.5; done
PROGRAM
  chmod 755 "$lab_home/saver.sh"
  submit --name saver --walltime 1m --signal USR1@50 --requeue yes 1x1x1 -- ./saver.sh
  ends 0
  same "the log keeps both runs" "start 0 saved start 1 resumed from 42" \
    "$(log_of saver | grep -v -e '^ddlrun job' -e '^slurmstepd' -e '^$' | xargs)"
  same "slurmctld counts" "1 COMPLETED" "$(field "$id" Restarts) $(field "$id" JobState)"
  says "after 1 restart"
}

scenario_requeue_at_most() {
  submit --name again --requeue 1 1x1x1 -- sh -c 'echo try; exit 75'
  ends 75
  same "starts" 2 "$(log_of again | grep -c '^try')"
  same "slurmctld counts" "1 75:0" "$(field "$id" Restarts) $(field "$id" ExitCode)"
}

# Forgotten by slurmctld: the job's own file has the status. The first scenario to submit, the last to query.
scenario_purged() {
  begin --name gone 1x1x1 -- sh -c 'exit 9'
  local gone=$id
  begin --name gone-well 1x1x1 -- true
  local well=$id
  wait_until 120 forgotten "$gone" || fail "job $gone is still known to slurmctld"
  wait_until 60 forgotten "$well" || fail "job $well is still known to slurmctld"
  ddl wait "$gone"
  ends 9
  says "exit status 9"
  ddl status "$gone" "$well" --json
  same "states by the jobs' own files" "failed 9 completed 0" \
    "$(json '" ".join(x["state"] + " " + str(x["exit_status"]) for x in d["jobs"])')"
  ddl cancel "$gone"
  ends 0
  says "is over already"
}
forgotten() { ! on node1 scontrol show job "$1"; }
