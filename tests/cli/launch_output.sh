#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch --output` and `--tee`: whose line is whose, byte for byte, also of ranks that are killed.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"
ranks=2
"$DDLRUN" launch 2 --dry-run -- true > /dev/null 2>&1 || { echo "skipped: two ranks need two cores"; exit 125; }

# --- the supervisor alone: frames of 512 bytes on stderr, nothing on stdout, the program's status
PMI_RANK=3 "$DDLRUN" exec --supervise --frame-output tok -- sh -c 'echo one; echo two >&2; exit 7' > keep.out 2> keep.err
same "exec: status" 7 $?
check "exec: nothing on stdout" test ! -s keep.out
same "exec: whole pieces" 0 $(($(stat -c %s keep.err) % 512))
same "exec: each piece is a line of 512 bytes" 512 "$(awk '{ print length($0) + 1 }' keep.err | sort -u)"
same "exec: four pieces" 4 "$(grep -c $'^\x1etok 3[oe][01]:' keep.err)"

PMI_RANK=3 "$DDLRUN" exec --supervise --frame-stderr tok -- sh -c 'echo one; echo two >&2; exit 7' > keep.out 2> keep.err
same "exec: status, stderr alone" 7 $?
same "exec: stdout as the program writes it" one "$(cat keep.out)"
same "exec: two pieces of stderr" 2 "$(grep -c $'^\x1etok 3e[01]:' keep.err)"
same "exec: no piece of stdout" 2 "$(wc -l < keep.err)"

# --- bytes arrive as they were, whatever they are; both streams; no newline at the end
cat > talk.py << 'END'
import os, sys
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
out = bytes(range(256)) * 40 + b"\n" + b"L" * 200000 + b"\nrank %d line\n" % rank + b"no end"
err = b"".join(b"rank %d error %d\n" % (rank, i) for i in range(3000))
open("said.%d.out" % rank, "wb").write(out)
open("said.%d.err" % rank, "wb").write(err)
for i in range(0, max(len(out), len(err)), 777):
    for fd, text in ((1, out), (2, err)):
        part = text[i:i + 777]
        while part:
            part = part[os.write(fd, part):]
END
launch bytes $ranks --rank-output files --verify -- python3 talk.py
same "files: status" 0 "$status"
directory=$(directory_of bytes)
for rank in 0 1; do
  for stream in out err; do
    check "files: rank $rank, $stream" cmp -s "said.$rank.$stream" "$directory/out/rank-000$rank.$stream"
  done
done
check "files: nothing on stdout" test ! -s bytes.out
has_not "files" bytes.err "error 0"
has "files: places are reported as ever" bytes.err "2 of 2 ranks are where they were planned"
same "files: only their owner reads them" 600 "$(stat -c %a "$directory/out/rank-0000.out")"

# --- without an option: stdout as mpirun passes it on, stderr byte for byte, with whole lines of each rank
launch screen $ranks -- python3 talk.py
same "screen: status" 0 "$status"
for rank in 0 1; do
  check "screen: stderr of rank $rank" cmp -s "said.$rank.err" <(grep "^rank $rank error" screen.err)
done
check "screen: no frame on stdout" test "$(grep -c $'\x1e[0-9a-f]* [01][oe]' screen.out)" = 0
same "screen: no frame on stderr" 0 "$(grep -c $'\x1e' screen.err)"
cat > fails.py << 'END'
import os, sys, time
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    time.sleep(0.1)
    raise KeyError("label")
time.sleep(0.2)
sys.exit("RuntimeError: Connection closed by peer")
END
launch fails $ranks -- python3 fails.py
has "screen: the rank of the cause" fails.err 'at: rank 1 on '
has "screen: that rank failed first" fails.err 'ddlrun: rank 1 on '
launch labelled $ranks --tag-output -- sh -c 'echo "err $OMPI_COMM_WORLD_RANK" >&2'
same "screen: labels of mpirun stay" 2 "$(grep -c '<stderr>:.*err [01]$' labelled.err)"

# --- the rank before each line, each line on its own stream
launch prefix $ranks --rank-output prefix -- sh -c 'echo "out $OMPI_COMM_WORLD_RANK"; echo "err $OMPI_COMM_WORLD_RANK" >&2; printf end'
same "prefix: stdout" $'[0] end\n[0] out 0\n[1] end\n[1] out 1' "$(sort prefix.out)"
same "prefix: stderr" $'[0] err 0\n[1] err 1' "$(grep '^\[' prefix.err | sort)"
check "prefix: no files" test ! -e "$(directory_of prefix)/out"

# --- files and screen
launch tee $ranks --tee -- sh -c 'echo "out $OMPI_COMM_WORLD_RANK"; echo "err $OMPI_COMM_WORLD_RANK" >&2'
same "tee: stdout" $'out 0\nout 1' "$(sort tee.out)"
same "tee: stderr" $'err 0\nerr 1' "$(grep '^err' tee.err | sort)"
same "tee: a file" "out 1" "$(cat "$(directory_of tee)/out/rank-0001.out")"

# --- a program that looks finds a terminal or not, as without us
# shellcheck disable=SC2016
look='[ -t 1 ] && echo terminal || echo pipe'
launch plain 1 -- sh -c "$look"
launch marked 1 --rank-output prefix -- sh -c "$look"
same "the same kind of stdout" "[0] $(cat plain.out)" "$(cat marked.out)"

# --- first failing rank first: its last 20 lines, then the rest
# shellcheck disable=SC2016
launch fails $ranks --rank-output files -- sh -c 'if [ $OMPI_COMM_WORLD_RANK = 1 ]; then seq -f "step %g" 30 >&2; exit 7; fi; sleep 60'
same "fails: status" 7 "$status"
has "fails" fails.err "the last 10 lines of rank 1 on stderr"
same "fails: those" "$(seq -f '  | step %g' 21 30)" "$(grep '^  | step' fails.err)"
check "fails: before who failed" awk '/the last 10 lines/ { a = NR } /rank 1 on .* failed first/ { b = NR } END { exit !(a && b && a < b) }' fails.err

# --- what a rank wrote before it was killed stands in its file
cat > counts.py << 'END'
import os, signal, sys, time
rank = os.environ["OMPI_COMM_WORLD_RANK"]
if sys.argv[1] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if rank == "1":
    time.sleep(1)
    os._exit(9)
n = 0
with open("wrote", "w") as wrote:
    while True:
        os.write(1, b"%d %s\n" % (n, b"z" * 60))
        n += 1
        wrote.seek(0)
        wrote.write(str(n))
        wrote.flush()
        time.sleep(0.0005)
END
launch killed $ranks --rank-output files -- python3 counts.py plain
same "killed: status" 9 "$status"
file=$(directory_of killed)/out/rank-0000.out
# PRRTE 3.0.8 reads nothing in the last half second of ranks that it ends: launch reports that output is missing.
if [[ $open_mpi -lt 5 ]] || ! grep -q "the end did not come" killed.err; then
  check "killed: all that was written ($(cat wrote), found $(wc -l < "$file"))" test "$(wc -l < "$file")" -ge "$(cat wrote)"
fi
same "killed: in order" "" "$(awk '$1 != NR - 1 { print NR; exit }' "$file")"
# A rank that ignores TERM is killed while mpirun does not read: all output arrives, or launch reports missing output.
launch stubborn $ranks --rank-output files -- python3 counts.py stubborn
file=$(directory_of stubborn)/out/rank-0000.out
same "stubborn: in order" "" "$(awk '$1 != NR - 1 { print NR; exit }' "$file")"
[[ $(wc -l < "$file") -ge $(cat wrote) ]] || has "stubborn: what is missing is reported" stubborn.err "the end did not come"

# --- ddlrun itself is killed: the files hold a beginning of what was said, and history knows
rm -f wrote
sed -i 's/^    time.sleep(1)$/    time.sleep(60)/' counts.py
"$DDLRUN" launch $ranks --rank-output files --run-dir gone -- python3 counts.py plain > gone.out 2> gone.err &
head=$!
for _ in $(seq 100); do [[ -s gone/out/rank-0000.out ]] && break; sleep 0.1; done
sleep 0.5
{ kill -KILL $head
wait $head; } 2> /dev/null
check "gone: something is there" test -s gone/out/rank-0000.out
same "gone: in order" "" "$(sed '$d' gone/out/rank-0000.out | awk '$1 != NR - 1 { print NR; exit }')"

# --- refusals
for refused in "--rank-output file" "--rank-output files --no-monitor" "--rank-output prefix --tag-output" "--tee --mpi-arg --merge-stderr-to-stdout"; do
  # shellcheck disable=SC2086
  expect_refusal 2 '' "$DDLRUN" launch 2 $refused -- true
done
finish
