#!/bin/bash
# SPDX-License-Identifier: MIT
# A launch over 4 hosts that loses a host, a link, a daemon or a rank's progress: noticed in time, and named.
# STALL_AFTER=60 for the time that people get.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v mpirun > /dev/null || { echo "skipped: no mpirun here (apt-get install openmpi-bin)"; exit 125; }
lab_up 4
stall_after=${STALL_AFTER:-5}
cat > "$lab_home/work" << 'PROGRAM'
#!/bin/bash
while [ ! -e done ]; do for ((i = 0; i < 2000; i++)); do :; done; sleep 0.2; done
PROGRAM
chmod 755 "$lab_home/work"

start() { # OPTIONS...
  rm -f "$lab_home/done"
  (
    LAB_PATIENCE=200 on node1 "$tool" launch 1x4x1 node1,node2,node3,node4 --sockets 1 --cores 2 "$@" -- ./work \
      > "$work/job.out" 2> "$work/job.err" < /dev/null
    echo $? > "$work/job.status"
  ) 2> /dev/null &
  job=$!
  for _ in $(seq 1 200); do
    [ "$(pids_of work | wc -l)" -eq 4 ] && return
    sleep 0.05
  done
  fail "the job does not start: $(tail -3 "$work/job.err")"
}
# The machine's numbers of what is called NAME|NAME in HOST, or in any.
pids_of() {
  local host namespace
  for host in ${2-node1 node2 node3 node4}; do
    namespace=$(stat -L -c %i "/proc/$(lab pid "$host")/ns/pid")
    ps -eo pid=,pidns=,comm= | awk -v namespace="$namespace" -v name="^($1)\$" '$2 == namespace && $3 ~ name { print $1 }'
  done
}
# said TEXT SECONDS: on the job's stderr within so many seconds from now
said() {
  local begun=$SECONDS
  until grep -qF -- "$1" "$work/job.err"; do
    if [ $((SECONDS - begun)) -gt "$2" ]; then
      fail "not said within $2 s: $1: $(grep '^ddlrun' "$work/job.err" | tail -3)"
      return
    fi
    sleep 0.2
  done
  echo "said after $((SECONDS - begun)) s: $(grep -F -- "$1" "$work/job.err" | head -1)"
}
ended() { # WHAT STATUS SECONDS
  local begun=$SECONDS
  while kill -0 "$job" 2> /dev/null && [ $((SECONDS - begun)) -le "$3" ]; do sleep 0.2; done
  kill -0 "$job" 2> /dev/null && fail "$1: the job has not ended after $3 s"
  wait "$job"
  same "$1: status" "$2" "$(cat "$work/job.status")"
}

# --- all is well: nothing is said of it
start
sleep 12
touch "$lab_home/done"
ended "a good run" 0 10
grep -q 'warning\|silent\|progress\|lost' "$work/job.err" && fail "a good run: $(grep 'warning\|silent' "$work/job.err")"

# --- a rank that is stopped
start --stall-timeout "$stall_after"
victim=$(pids_of work node2)
kill -STOP "$victim"
said "rank 1 on node2 has made no progress for" $((stall_after + 1))
grep -q "(work) is stopped (SIGSTOP)" "$work/job.err" || fail "the reason is not reported"
kill -CONT "$victim"
said "rank 1 on node2 goes on after" 5
touch "$lab_home/done"
ended "a rank that was stopped" 0 10

# --- a daemon and a session that are killed
# Open MPI 5 calls its daemon prted; OpenSSH 9.8 calls a session sshd-session.
for kind in 'orted|prted' 'sshd|sshd-session'; do
  start
  mapfile -t victims < <(pids_of "$kind" node3)
  if [[ $kind == sshd* ]]; then mapfile -t victims < <(ps -o pid=,args= -p "${victims[*]}" | awk '/@notty/ { print $1 }'); fi
  [ ${#victims[@]} -gt 0 ] || fail "no $kind on node3"
  kill -KILL "${victims[@]}"
  said "ddlrun: host node3 was lost" 10
  ended "$kind killed" 5 10
done

# --- a host that is switched off
start
lab stop node3
said "ddlrun: host node3 was lost" 10
ended "a host switched off" 5 10
lab start node3

# --- a host behind a cut cable: no error arrives, so ddlrun notices its silence
start
lab link node3 eth0 down
lab link node3 ib0 down
said "host node3 has been silent for" 30
said "ddlrun: host node3 was lost" 20
ended "a cut cable" 5 10
lab link node3 eth0 up
lab link node3 ib0 up
grep -q '"silent_hosts": \[' "$lab_home"/.local/state/ddlrun/runs/*/run.json || fail "run.json does not tell it"
finish
