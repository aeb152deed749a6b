# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit_pbs.sh: scenarios that wait for PBS's own time. They begin first.

# pbs_mom ends a job some seconds after its walltime, with an exit status of its own: src/include/job.h.
scenario_walltime() {
  submit --name limit --walltime 5s 1x1x1 -- sh -c 'echo begun; sleep 300'
  ends 124
  says "used up its time limit"
  prints begun
  same "pbs_server reports" -29 "$(field "$id" Exit_status)"
}
scenario_memory() {
  submit --name large --memory 64MiB 1x1x1 -- python3 -c 'x = bytearray(400 << 20); import time; print("full", flush=True); time.sleep(300)'
  ends 137
  says "more memory than it had requested"
  same "pbs_server reports" -27 "$(field "$id" Exit_status)"
}
# The program saves on USR1 and asks to go on: PBS has no such signal, and the next start is a job of its own.
scenario_signal_requeue_resume() {
  cat > "$lab_home/saver.sh" << 'PROGRAM'
#!/bin/bash
echo "start $DDLRUN_RESTART_COUNT"
[ ! -e saved ] || { echo "resumed from $(cat saved)"; exit 0; }
trap 'echo 42 > saved; echo saved; exit 75' USR1
for _ in $(seq 400); do sleep 0.5; done
PROGRAM
  chmod 755 "$lab_home/saver.sh"
  submit --name saver --walltime 2m --signal USR1@115 --requeue yes 1x1x1 -- ./saver.sh
  ends 0
  same "the log keeps both runs" "start 0 saved start 1 resumed from 42" \
    "$(log_of saver | grep -v -e '^ddlrun job' -e '^$' | xargs)"
  says "goes on as job"
}
