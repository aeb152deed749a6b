# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# The clock jumps by hours, forward and back, while a command runs: faketime in front of all of its processes on node1.
# The machine's own clock is not touched, and intervals stay true, as they do where an administrator sets the clock.

shim=$(find /usr/lib -name libfaketimeMT.so.1 2> /dev/null | head -n 1)
[ -n "$shim" ] || { echo 'not tested: a clock that jumps (apt-get install faketime)'; return; }
jumping() { # OFFSET SECONDS COMMAND... : from +0 to the offset after so many seconds
  echo +0 > "$lab_home/run-clock"
  (sleep "$2"; echo "$1" > "$lab_home/run-clock.new"; mv "$lab_home/run-clock.new" "$lab_home/run-clock") &
  local clock=$!
  status=0
  on node1 env LD_PRELOAD="$shim" FAKETIME_TIMESTAMP_FILE=/home/ddl/run-clock FAKETIME_NO_CACHE=1 \
    FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 "${@:3}" > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
  wait "$clock"
  # The proof that it jumped: the run's own times.
  [ "$4" != launch ] || python3 - "$lab_home" << 'END' || fail "$name: the clock did not jump"
import datetime, glob, json, sys
run = json.load(open(glob.glob(sys.argv[1] + "/.local/state/ddlrun/runs/*/run.json")[0]))
start, end = (datetime.datetime.fromisoformat(time.replace("Z", "+00:00")) for time in (run["start"], run["end"]["time"]))
sys.exit(abs((end - start).total_seconds()) < 4 * 3600)
END
}
job=("$tool" launch 1x2x1 "$(IFS=,; echo "${hosts[*]}")" --sockets 1 --cores 2)
[ -z "$full" ] || row launch 'the clock jumps by hours' 'forward' 0 'ended well' jumping +5h 1 "${job[@]}" -- ./rank 30
row launch 'the clock jumps by hours' 'back' 0 'ended well' jumping -5h 1 "${job[@]}" -- ./rank 30
[ -z "$full" ] || {
  row 'launch, ssh' 'the clock jumps by hours' 'forward' 0 'ended well' jumping +5h 1 "${job[@]}" --launcher ssh -- ./rank 30
  row 'launch, ssh' 'the clock jumps by hours' 'back' 0 'ended well' jumping -5h 1 "${job[@]}" --launcher ssh -- ./rank 30
  row doctor 'the clock jumps by hours' 'back' '0|1' '2 hosts' jumping -5h 0.2 "$tool" doctor "${job[3]}"
}
