#!/bin/bash
# SPDX-License-Identifier: MIT
# A stderr that cannot be written (full disk, closed, a terminal that is gone) changes no exit status and ends no job.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export HOME=$work XDG_STATE_HOME=$work/state
cd "$work" || exit 1
printf 'rank 0=a slot=0:0,1\n' > bad.rf

# same_status COMMAND...: with any stderr the command exits as it does with a working one.
same_status() {
  local want status
  "$@" > /dev/null 2> err; want=$?
  [ -s err ] || fail "the working stderr is empty, so nothing is tested: $*"
  "$@" > /dev/null 2> /dev/full; status=$?
  [ "$status" -eq "$want" ] || fail "status $status, not $want, with a full disk: $*"
  "$@" > /dev/null 2>&-; status=$?
  [ "$status" -eq "$want" ] || fail "status $status, not $want, with stderr closed: $*"
  "$@" 2>&1 > /dev/null | true; status=${PIPESTATUS[0]}
  [ "$status" -eq "$want" ] || fail "status $status, not $want, without a reader: $*"
}
same_status "$DDLRUN" topo --nope
same_status "$DDLRUN" check-rankfile
same_status "$DDLRUN" submit --local 1 --walltime nonsense -- true
same_status "$DDLRUN" launch 1 -- sh -c 'echo talk >&2; exit 7'
same_status "$DDLRUN" launch 1 --rank-output prefix -- sh -c 'echo talk >&2; exit 7'
same_status "$DDLRUN" diagnose /no/such/file
for program in runtime/ddl-train bench/ddl_bench/ddl-bench; do
  [ ! -x "$DDLRUN_BUILD_DIR/$program" ] || same_status "$DDLRUN_BUILD_DIR/$program" --nope
done

# A stdout that cannot be written stays an error of the command, but does not end a job.
run sh -c "'$DDLRUN' topo > /dev/full"
[ "$status" -eq 3 ] || fail "topo to a full disk: status $status, not 3"
run sh -c "'$DDLRUN' topo >&-"
[ "$status" -eq 3 ] || fail "topo with stdout closed: status $status, not 3"
run sh -c "'$DDLRUN' launch 1 --rank-output prefix -- sh -c 'echo talk; sleep 1; echo talk; touch finished-out' > /dev/full"
[ "$status" -eq 0 ] && [ -e finished-out ] || fail "launch with stdout on a full disk: status $status"
grep -q 'warning: cannot write the output' "$work/err" || fail "launch does not report that its stdout is full"

# Files that are opened later do not take the number of a closed descriptor: nothing of ours lands in them.
"$DDLRUN" topo --json > machine.json
"$DDLRUN" topo --svg machine.svg >&- 2>&-
[ "$(head -c 5 machine.svg)" = "<?xml" ] || [ "$(head -c 4 machine.svg)" = "<svg" ] || fail "machine.svg holds something else"

# whole_run STATE: the run record below STATE has an end.
whole_run() {
  python3 - "$1" << 'END' || fail "no whole run.json below $1"
import glob, json, sys
(path,) = glob.glob(sys.argv[1] + "/ddlrun/runs/*/run.json")
sys.exit(0 if json.load(open(path))["end"] else 1)
END
}

# The disk of the log fills while the job runs.
if unshare -m true 2> /dev/null; then
  mkdir full
  XDG_STATE_HOME=$work/state-full unshare -m sh -c "mount -t tmpfs -o size=64k tmpfs full && '$DDLRUN' launch 1 -- sh -c '
    for i in 1 2 3 4 5; do head -c 40000 /dev/zero | tr \"\\0\" e >&2; echo >&2; sleep 0.1; done; touch finished-full' \
    > full/log 2>&1"
  status=$?
  [ "$status" -eq 0 ] && [ -e finished-full ] || fail "launch whose log's disk fills: status $status"
  whole_run state-full
else
  echo "not tested: a disk that fills (no mount namespace here)"
fi

# A file size limit is an error too. What ddlrun starts gets the signal of that limit as before.
text=$(sh -c "ulimit -f 0; exec '$DDLRUN' topo > limited" 2>&1)
status=$?
[ "$status" -eq 3 ] && [[ $text == *'File too large'* ]] || fail "topo at a file size limit: status $status, $text"
# shellcheck disable=SC2016
expect 0 SigIgn "$DDLRUN" launch 1 --launcher ssh -- grep -E 'SigIgn|SigCgt' /proc/self/status
while read -r _ mask; do (( 16#$mask & 16#1000000 )) && fail "SIGXFSZ is not as the shell leaves it: $mask"; done < "$work/out"

# The terminal goes away while the job runs, and HUP is ignored as under nohup.
cat > terminal.py << 'END'
import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execvp(sys.argv[1], sys.argv[1:])
while b"ready" not in os.read(fd, 4096):
    pass
os.close(fd)
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) & 255)
END
XDG_STATE_HOME=$work/state-pty python3 terminal.py "$DDLRUN" launch 1 -- sh -c \
  'echo ready >&2; sleep 1; echo talk >&2; sleep 0.5; touch finished-pty' > pty.log 2>&1
status=$?
[ "$status" -eq 0 ] && [ -e finished-pty ] || fail "launch whose terminal is gone: status $status"
whole_run state-pty
finish
