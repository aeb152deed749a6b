#!/bin/bash
# SPDX-License-Identifier: MIT
# diagnose as users run it: verdicts and exit statuses, stdin, several logs, --json, --list, --explain, --signatures,
# errors, hostile logs, memory on a large log.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/diagnose

# The whole report, word by word: a known cause, a likely one, an unknown one, a log without trouble, a hostile one.
# The first line of NAME.args, where there is one, has more arguments.
for log in "$golden"/*.log; do
  name=$(basename "$log" .log)
  args=()
  [ ! -f "$golden/$name.args" ] || read -r -a args <"$golden/$name.args"
  run "$DDLRUN" diagnose "$log" "${args[@]}"
  sed "s#$golden/##" "$work/out" >"$work/report"
  printf 'exit %s\n' "$status" >>"$work/report"
  diff -u "$golden/$name.txt" "$work/report" || fail "the report of $name.log differs"
  [ ! -s "$work/err" ] || fail "output on stderr for $name.log"
  LC_ALL=C grep -q '[[:cntrl:]]' "$work/out" && fail "control bytes in the report of $name.log"
  run "$DDLRUN" diagnose --json "$log" "${args[@]}"
  python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == "ddlrun.diagnose/1"
wanted = {0: ["no-trouble", "nothing-found"], 1: ["cause-found", "likely-cause", "unknown"]}[int(sys.argv[2])]
assert report["verdict"] in wanted, report["verdict"]
assert (report["cause"] is not None) == (report["verdict"] in ("cause-found", "likely-cause"))
assert report["cause"] is None or report["cause"]["try"]
' "$work/out" "$status" || fail "the JSON of $name.log"
done

# stdin, with and without "-"; several logs, one of them of another rank.
for dash in - ''; do
  status=0
  printf 'Host key verification failed.\n' | "$DDLRUN" diagnose $dash >"$work/out" 2>"$work/err" || status=$?
  [ "$status" -eq 1 ] || fail "stdin ('$dash'): status $status"
  grep -q '\[C3\]' "$work/out" || fail "stdin ('$dash'): $(head -2 "$work/out")"
done
mkdir -p "$work/rank.0" "$work/rank.3"
printf 'step 1\n' >"$work/rank.0/stderr"
printf './train: error while loading shared libraries: libmpi.so.40: cannot open shared object file: No such file\n' \
  >"$work/rank.3/stderr"
expect 1 'at: rank 3' "$DDLRUN" diagnose "$work/rank.0/stderr" "$work/rank.3/stderr"

# The exit status alone, with an empty log; a run that succeeded.
: >"$work/empty.log"
expect 1 '[B8]' "$DDLRUN" diagnose "$work/empty.log" --status 1 --from mpirun
expect 1 'SIGTERM (256 + 15)' "$DDLRUN" diagnose "$work/rank.0/stderr" --status 271 --from pbs
expect 1 'walltime' "$DDLRUN" diagnose "$work/rank.0/stderr" --status -29 --from pbs
printf 'RuntimeError: caught and retried\n' >"$work/well.log"
expect 1 'most likely: RuntimeError: caught and retried' "$DDLRUN" diagnose "$work/well.log"
expect 0 'no trouble' "$DDLRUN" diagnose "$work/well.log" --status 0

# --list and --explain; every fortieth id that is listed can be explained. The unit tests look at all of them.
# Open MPI's count of messages that it left out is no failure, in one line or wrapped.
printf 'loss 0.5\n[n1:42] 7 more processes have sent help message\nhelp-mpi-btl-openib.txt / error in device init\nloss 0.4\n' > "$work/count.log"
expect 0 'no known failure' "$DDLRUN" diagnose "$work/count.log"
expect 0 'B1   P ' "$DDLRUN" diagnose --list
cut -d' ' -f1 "$work/out" >"$work/ids"
[ "$(wc -l <"$work/ids")" -ge 225 ] || fail "only $(wc -l <"$work/ids") signatures"
while read -r id; do
  "$DDLRUN" diagnose --explain "$id" >"$work/out" 2>"$work/err" </dev/null || fail "--explain $id"
  grep -q '^try:' "$work/out" || fail "--explain $id has no remedy"
done < <(sed -n '1~40p' "$work/ids")
expect 0 'bad-host' "$DDLRUN" diagnose --explain b1
expect 0 '"ddlrun.signatures/1"' "$DDLRUN" diagnose --explain A1 --json
expect_refusal 2 'unknown signature' "$DDLRUN" diagnose --explain ZZ99

# A user's signatures are added, or rejected with the place of the error.
cat >"$work/own.yaml" <<'END'
signatures:
- id: SITE1
  class: P
  title: the scratch disk of {host} is full
  match: ['scratch quota of {host} exceeded']
  cause: our site's quota
  try: ['rm -i /scratch/$USER/old*']
  reference: our wiki
END
printf 'job: scratch quota of n17 exceeded\n' >"$work/own.log"
expect 1 'the scratch disk of n17 is full [SITE1]' "$DDLRUN" diagnose "$work/own.log" --signatures "$work/own.yaml"
sed 's/class: P/class: X/' "$work/own.yaml" >"$work/bad.yaml"
expect_refusal 3 'bad.yaml:3:10' "$DDLRUN" diagnose "$work/own.log" --signatures "$work/bad.yaml"

# What --explain prints as JSON is such a file, and so is the example of a centre.
"$DDLRUN" diagnose --explain R17 --json | sed 's/"R17"/"SITE17"/' >"$work/copy.json"
printf 'double free or corruption (out)\n' >"$work/free.log"
expect 1 'SITE17' "$DDLRUN" diagnose "$work/free.log" --signatures "$work/copy.json"
expect 1 'the scratch quota is used up on n17 [SITE1]' "$DDLRUN" diagnose "$work/own.log" \
  --signatures "$DDLRUN_SOURCE_DIR/examples/site/signatures.yaml"

# Not a log.
expect_refusal 3 'No such file' "$DDLRUN" diagnose "$work/nosuch.log"
expect_refusal 3 'Is a directory' "$DDLRUN" diagnose "$work"
expect_refusal 3 'empty' "$DDLRUN" diagnose "$work/empty.log"
# With --json the error is a document too; without an exit status nothing proves that a run went well.
run "$DDLRUN" diagnose --json "$work/empty.log"
[ "$status" -eq 3 ] || fail "an empty log with --json: status $status"
python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["error"]["what"] == "the log is empty" and d["error"]["try"], d' \
  <"$work/out" || fail "the JSON of an empty log"
verdict_of() { python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["error"] is None; print(d["verdict"])' <"$work/out"; }
run "$DDLRUN" diagnose --json "$work/rank.0/stderr"
[ "$(verdict_of)" = nothing-found ] || fail "the verdict without a status: $(verdict_of)"
run "$DDLRUN" diagnose --json "$work/rank.0/stderr" --status 0
[ "$(verdict_of)" = no-trouble ] || fail "the verdict after status 0: $(verdict_of)"
expect 1 'SIGXFSZ' "$DDLRUN" diagnose --status 153 "$work/empty.log"

# A directory of a job that was started by hand: what doctor reports of the host is no output of the program.
mkdir "$work/by_hand"
printf '%s\n' "ddlrun job: doctor's status is 1: nothing is started" '  try: ddlrun submit --doctor warn ...' >"$work/by_hand/stop_reason"
{
  printf '%s\n' 'fail  SLURM-02  commands of Slurm' '  is    sinfo: fatal: Could not establish a configuration source' \
    '  why   cannot connect to server pbs1 (errno=15034)'
  cat "$work/by_hand/stop_reason"
} >"$work/by_hand/output.log"
expect 1 '[O9]' "$DDLRUN" diagnose "$work/by_hand"
has_not 'the doctor is no program' "$work/out" G22
expect_refusal 3 'not a text' "$DDLRUN" diagnose "$DDLRUN"
gzip -c "$work/own.log" >"$work/own.log.gz"
expect_refusal 3 'zcat' "$DDLRUN" diagnose "$work/own.log.gz"
# One binary file of several is skipped with a warning; binary files only are an error.
printf 'Host key verification failed.\n' >"$work/key.log"
expect 1 '[C3]' "$DDLRUN" diagnose "$work/own.log.gz" "$work/key.log"
grep -q 'own.log.gz' "$work/err" || fail "no warning for the skipped log"
expect_refusal 3 'all 2 logs are binary' "$DDLRUN" diagnose "$work/own.log.gz" "$DDLRUN"
expect_refusal 2 '--status' "$DDLRUN" diagnose "$work/own.log" --status often
for odd in 999 321 -256; do expect_refusal 2 '--status' "$DDLRUN" diagnose "$work/own.log" --status "$odd"; done
expect_refusal 2 '--from' "$DDLRUN" diagnose "$work/own.log" --status 1 --from lsf

# 200 MB, and one line of 100 MB: bounded memory.
line='[1,3]<stdout>:epoch 3 step 1200 loss 2.3021 images/s 812.1'
yes "$line" | head -c 200000000 >"$work/large.log"
printf '\n[1,3]<stderr>:Host key verification failed.\n' >>"$work/large.log"
head -c 100000000 /dev/zero | tr '\0' 'x' >"$work/long.log"
printf ' Host key verification failed.' >>"$work/long.log"
for log in large long; do
  peak=$(python3 - "$DDLRUN" "$work/$log.log" <<'END'
import resource, subprocess, sys
result = subprocess.run([sys.argv[1], "diagnose", sys.argv[2]], capture_output=True, text=True)
assert result.returncode == 1 and "[C3]" in result.stdout, result
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
  ) || fail "$log.log is not diagnosed"
  # A sanitizer's own memory is many times that of the program.
  if nm "$DDLRUN" 2>/dev/null | grep -q __asan_init; then continue; fi
  [ "${peak:-99999999}" -le 65536 ] || fail "$log.log: $peak KiB of memory, more than 65536"
done

# A named pipe may never end: it is refused at once. What a shell passes on as a pipe is read.
mkfifo "$work/a pipe"
expect_refusal 3 'which may never end' timeout 20 "$DDLRUN" diagnose "$work/a pipe"
has "the command for a pipe" "$work/err" "  try: cat '$work/a pipe' | ddlrun diagnose -"
expect_refusal 3 'which may never end' timeout 20 "$DDLRUN" diagnose /dev/zero
expect 1 '[C3]' timeout 20 bash -c '"$1" diagnose <(echo "Host key verification failed.")' sh "$DDLRUN"
expect 1 '[C3]' timeout 20 bash -c 'echo "Host key verification failed." | "$1" diagnose /dev/stdin' sh "$DDLRUN"
finish
