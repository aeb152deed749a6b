#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that make no progress: which one launch names, what ends them, and what top, report and diagnose show of it.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"

ranks=2
"$DDLRUN" launch 2 --dry-run -- true > /dev/null 2>&1 || ranks=1
last=$((ranks - 1))

# --- a rank that stalls is named, with host, process and state; so is its going on
spins() {
  own_place
  # shellcheck disable=SC2016
  "$DDLRUN" launch $ranks --stall-timeout 2 -- bash -c 'echo $$ > stall.$OMPI_COMM_WORLD_RANK; while [ ! -e stop ]; do :; done' > stall.out 2> stall.err < /dev/null &
  job=$!
  for _ in $(seq 1 100); do [[ -s stall.$last ]] && break; sleep 0.05; done
  victim=$(cat "stall.$last")
  kill -STOP "$victim"
  for _ in $(seq 1 30); do grep -q "is stopped" stall.err && break; sleep 0.1; done
  has "stall" stall.err "ddlrun: warning: rank $last on $(hostname) has made no progress for"
  has "stall" stall.err "process $victim (bash) is stopped (SIGSTOP)"
  has "stall" stall.err "try: kill -CONT $victim"
  kill -CONT "$victim"
  for _ in $(seq 1 30); do grep -q "goes on" stall.err && break; sleep 0.1; done
  has "stall" stall.err "ddlrun: rank $last on $(hostname) goes on after"
  touch stop
  wait $job
  same "stall: the job ends well" 0 $?
  has "stall" "$(directory_of stall)/run.json" "\"state\": \"T\""
}

# A rank that waits is noted, not called stalled; no one is with 0.
idles() {
  own_place
  launch idle 1 --stall-timeout 1 -- sleep 5
  same "idle: status" 0 "$status"
  has "idle" idle.err "ddlrun: note: rank 0 on $(hostname) has used almost no CPU time"
  has_not "idle" idle.err "warning"
  # While it hangs, others show the same note.
  "$DDLRUN" launch 1 --run-dir hangs --stall-timeout 1 -- sleep 15 > hangs.out 2> hangs.err < /dev/null &
  job=$!
  for _ in $(seq 1 50); do [[ $("$DDLRUN" top --once hangs 2> /dev/null) == *stall:* ]] && break; sleep 0.1; done
  "$DDLRUN" top --once hangs > hangs.top
  has "top of a run that hangs" hangs.top "stall: rank 0 on $(hostname) has used almost no CPU time"
  has "top of a run that hangs" hangs.top '(sleep) sleeps'
  check "top marks the rank" grep -q '^>    0 ' hangs.top
  "$DDLRUN" diagnose hangs > hangs.diagnosis
  same "diagnose a run that hangs: status" 1 $?
  has "diagnose a run that hangs" hangs.diagnosis 'is still running, without progress: rank 0 on'
  has "diagnose a run that hangs" hangs.diagnosis 'cause: no rank makes progress'
  "$DDLRUN" report hangs -o hangs.html 2> /dev/null
  has "report of a run that hangs" hangs.html '<b>Still running, without progress</b>: rank 0 on'
  wait $job
  same "a run that hangs for a while: status" 0 $?
  "$DDLRUN" report hangs -o hangs.html 2> /dev/null
  has_not "report of its end" hangs.html 'Still running'
  launch never 1 --stall-timeout 0 -- sleep 3
  has_not "--stall-timeout 0" never.err "note"
}

# Ranks that wait for each other in MPI_Recv spin: they are noted where all do, and not while one of them works.
deadlocks() {
  own_place
  cat > deadlock.c <<'PROGRAM'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, ranks, token;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double until = MPI_Wtime() + atof(argv[1]);
  for (volatile double x = 0; rank == 0 && MPI_Wtime() < until;)
    for (int i = 0; i < 1000000; ++i) x += i;
  MPI_Recv(&token, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
PROGRAM
  if [[ $ranks -lt 2 || $(cat /proc/sys/kernel/perf_event_paranoid 2> /dev/null) -gt 2 ]] || ! mpicc -O1 deadlock.c -o deadlock; then
    echo "left out: a deadlock of ranks that spin needs two cores, mpicc and kernel.perf_event_paranoid of at most 2"
  else
    SECONDS=0
    launch deadlock 2 --stall-timeout 2 --on-stall end -- ./deadlock 8
    same "a deadlock: status" 124 "$status"
    check "a deadlock: not before rank 0 waits too: $SECONDS s" test "$SECONDS" -ge 9
    has "a deadlock" deadlock.err "note: all 2 ranks have moved no bytes for "
    has "before it rank 0 works" deadlock.err "note: rank 0 on $(hostname) has used CPU time and moved no bytes for "
    check "and rank 1 is not named" test "$(grep -c 'note: rank 1' deadlock.err)" -eq 0
    check "a deadlock: the library" grep -q '(deadlock) of rank . on [^ ]* waits at full speed in \(lib\|mca_\)' deadlock.err
  fi
}

# A rank that polls waits, at some 0.7 % of a core; one that reads a slow disk works, at 0.01 %.
polls() {
  own_place
  launch polls 1 --stall-timeout 2 --on-stall end -- /usr/bin/python3 -c 'import time
end = time.time() + 30
while time.time() < end: time.sleep(0.002)'
  same "a rank that polls: status" 124 "$status"
  has "a rank that polls" polls.err " looks again and again for something, and sleeps"
  "$DDLRUN" diagnose last > polls.last
  has "diagnose last: the note of the stall" polls.last "run.json: ddlrun: note: rank 0 on $(hostname) has used almost no CPU time"
  has "diagnose last: its class" polls.last "no rank makes progress: all of them wait [O8]"
  has "diagnose last: the status" polls.last "exit status: 124: the job stalled, and --on-stall end ended it"
  has_not "diagnose last: no advice that was taken" polls.last "--on-stall end ..."
  # Polls that a thread answers by read and write, as the store of PyTorch 2.4 does, are no progress; lines are.
  cat > store.py <<'PROGRAM'
import os, socket, sys, threading, time
client, server = socket.socketpair()
def serve():
    while os.read(server.fileno(), 30): os.write(server.fileno(), b"x" * 30)
threading.Thread(target=serve, daemon=True).start()
lines = sys.argv[1] == "lines"
for turn in range(1000):
    client.send(b"x" * 30)
    client.recv(30)
    time.sleep(0.01)
    if lines and turn % 50 == 0: print("line", turn, flush=True)
PROGRAM
  launch asks 1 --stall-timeout 3 --on-stall end -- /usr/bin/python3 store.py silent
  same "a rank that asks a store: status" 124 "$status"
  launch prints 1 --stall-timeout 3 --on-stall end -- /usr/bin/python3 store.py lines
  same "a rank that asks a store and prints: status" 0 "$status"
  has_not "a rank that asks a store and prints" prints.err "note: "
  launch reads 1 --stall-timeout 2 --on-stall end -- /usr/bin/python3 -c 'import time
disk = open("/dev/zero", "rb", 0)
for turn in range(25): disk.read(65536); time.sleep(0.3)'
  same "a rank that reads slowly: status" 0 "$status"
  has_not "a rank that reads slowly" reads.err "note: "
}

# A rank that raised an exception and does not end, as mpi4py's in MPI_Finalize, is named with it.
raises() {
  own_place
  cat > raise.py <<'PROGRAM'
import atexit, os, threading
if os.environ["DDLRUN_RANK"] == "1":
    atexit.register(threading.Event().wait, 60)
    raise RuntimeError("shape mismatch")
threading.Event().wait(60)
PROGRAM
  [[ $ranks -eq 2 ]] || return 0
  launch raised 2 --stall-timeout 2 --on-stall end -- /usr/bin/python3 raise.py
  same "an exception: status" 124 "$status"
  has "an exception: the note" raised.err "note: rank 1 on $(hostname) printed RuntimeError: shape mismatch and has not ended; it has "
  has "an exception: who waits" raised.err "; the others seem to wait for it"
  has "an exception: what ends all" raised.err "-- /usr/bin/python3 -m mpi4py raise.py"
  has "an exception: the cause" raised.err "cause: RuntimeError: shape mismatch (raise.py:4)"
  has "an exception: its rank" raised.err "at: rank 1 on $(hostname)"
  "$DDLRUN" diagnose last > raised.last
  has "diagnose last: the cause" raised.last "cause: RuntimeError: shape mismatch (raise.py:4)"
  has "diagnose last: its rank" raised.last "at: rank 1 on $(hostname)"
  "$DDLRUN" history --limit 1 > raised.row
  has "history: the exception" raised.row "ended because of a stall: rank 1 on $(hostname) printed RuntimeError: shape mismatch and has not ended"
  # The same where a person ends it.
  "$DDLRUN" launch 2 --stall-timeout 2 -- /usr/bin/python3 raise.py > left.out 2> left.err < /dev/null &
  job=$!
  for _ in $(seq 1 300); do grep -q "and has not ended" left.err && break; sleep 0.1; done
  kill -TERM $job
  wait $job
  same "an exception, and TERM: status" 143 $?
  has "an exception, and TERM: the cause" left.err "cause: RuntimeError: shape mismatch (raise.py:4)"
}

# --- --on-stall end ends the job, in the time that mpirun takes.
ends() {
  own_place
  SECONDS=0
  # shellcheck disable=SC2016
  launch ended $ranks -q --stall-timeout 1 --on-stall end -- bash -c 'kill -STOP $$'
  same "--on-stall end: status" 124 "$status"
  has "--on-stall end: the rank, with -q" ended.err "has made no progress for"
  has "--on-stall end: the end, with -q" ended.err "ddlrun: the job is ended, as --on-stall end asks"
  check "--on-stall end: $SECONDS s" test "$SECONDS" -lt 12
  has_not "--on-stall end" ended.err "failed first"
  "$DDLRUN" diagnose last > ended.last
  has "diagnose last: a rank that is stopped" ended.last "cause: a rank makes no progress [O3]"
}

# Two that spin on all cores take turns, and the one that measures time comes alone.
spinners() { spins && deadlocks; }
for part in spinners polls idles raises; do beside $part; done
all_done
ends

finish
