#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch --np`: what rank 0 returns, as HorovodRunner's run() returns it.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"
ranks=2
"$DDLRUN" launch 2 --dry-run -- true > /dev/null 2>&1 || ranks=1

cat > train.py << 'PROGRAM'
import json, os, sys
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("DDLRUN_RANK", os.environ.get("PMI_RANK")))
path = os.environ.get("DDLRUN_RESULT")
sys.stdout.write("%s has %s\n" % (rank, "one" if path else "none"))  # one write, also where Python does not buffer
if path and sys.argv[1] != "nothing":
    print("mode %o" % (os.stat(path).st_mode & 0o777) if os.path.exists(path) else "not yet there", file=sys.stderr)
    json.dump({"accuracy": 0.75}, open(path, "w"))
sys.exit(int(sys.argv[2]))
PROGRAM
launchers="openmpi ssh"
command -v mpirun.mpich > /dev/null && launchers+=" mpich"
for launcher in $launchers; do
  launch "$launcher" --np -$ranks --launcher "$launcher" -- python3 train.py write 0
  same "$launcher: status" 0 "$status"
  same "$launcher: rank 0 alone has a path" "$(for ((i = 0; i < ranks; i++)); do
    [[ $i -eq 0 ]] && echo "0 has one" || echo "$i has none"
  done)" "$(sort "$launcher.out")"
  file=$(directory_of "$launcher")/result
  has "$launcher: reported" "$launcher.err" "ddlrun: rank 0's result: $file"
  same "$launcher: the result" '{"accuracy": 0.75}' "$(cat "$file")"
  same "$launcher: mode" 600 "$(stat -c %a "$file")"
  has "$launcher: from the start" "$launcher.err" "mode 600"
done
launch plain --np -1 --no-monitor --no-verify -- python3 train.py write 0
same "without keepers" '{"accuracy": 0.75}' "$(cat "$(directory_of plain)/result")"

# --- history and report know it; a replay writes its own
expect 0 '' "$DDLRUN" history --json
same "history" "$(directory_of plain)/result" "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["runs"][0]["result"])' "$work/out")"
expect 0 "<dt>result of rank 0</dt><dd><a href=\"$(directory_of plain)/result\">" "$DDLRUN" report last -o -
run "$DDLRUN" replay last
same "replay: status" 0 "$status"
again=$(sed -n 's/^ddlrun: run directory //p' "$work/err")
same "replay: its result" '{"accuracy": 0.75}' "$(cat "$again/result")"
check "replay: its own directory" test "$again" != "$(directory_of plain)"
"$DDLRUN" launch --np -1 --dry-run --run-dir "$work/by hand" -- python3 train.py write 0 > dry.sh 2> /dev/null
bash dry.sh > dry.out 2>&1
same "the script of a dry run" '{"accuracy": 0.75}' "$(cat "by hand/result")"

# --- none: not written, of a job that failed, without --np, rank 0 elsewhere
launch nothing --np -1 -- python3 train.py nothing 0
check "nothing written: no file" test ! -e "$(directory_of nothing)/result"
has_not "nothing written" nothing.err "rank 0's result"
launch failed --np -1 -- python3 train.py write 3
same "failed: status" 3 "$status"
has_not "failed" failed.err "rank 0's result"
has "failed" "$(directory_of failed)/run.json" '"result": null'
launch dims 1 -- python3 train.py write 0
same "without --np" "0 has none" "$(cat dims.out)"
launch far --np 2 h8,h9 --sockets 1 --cores 1 --dry-run -- true
same "rank 0 elsewhere: status" 0 "$status"
has "rank 0 elsewhere" far.out "rank 0 gets no DDLRUN_RESULT: it is on h8, not on this host"
has_not "rank 0 elsewhere" far.out '"result"'
# The rows of HorovodRunner's that name hosts are repeated on those hosts.
launch hosts --np 1 localhost -- python3 train.py write 0
same "--np with hosts: status" 0 "$status"
expect 0 "rank 0's result" "$DDLRUN" replay last
finish
