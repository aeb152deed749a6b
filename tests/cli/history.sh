#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun history`, `ddlrun replay` and how runs are called.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"
runs=$XDG_STATE_HOME/ddlrun/runs

expect 0 'nothing was launched yet' "$DDLRUN" history
expect_refusal 3 'there are no runs yet' "$DDLRUN" report last

launch well 1 --verify --mca btl_base_verbose 0 -x 'KEY=s3cret' -x PATH -- sh -c 'echo hello' sh 'a b' '-x' '--'
well=$(basename "$(directory_of well)")
sleep 1.1 # ids of one second are in no order
launch bad 1 -- sh -c 'exit 7'
bad=$(basename "$(directory_of bad)")

# --- diagnose takes a run as report does: what launch found, its last lines as JSON, the files of --tee
expect 1 'exited with status 7' "$DDLRUN" diagnose last
for word in "$bad" "$runs/$bad"; do expect 1 'exited with status 7' "$DDLRUN" diagnose "$word"; done
expect_refusal 3 "'job.log' is no file and no job: no run has an ID that begins with this" "$DDLRUN" diagnose job.log
expect 1 '"status": 7' "$DDLRUN" diagnose last --json
expect 0 'no trouble' "$DDLRUN" diagnose "$runs/$well"
launch tee 1 --run-dir "$work/teed" --tee --no-history -- sh -c 'echo "ImportError: gone" >&2; exit 4'
expect 1 'teed/out/rank-0000.err' "$DDLRUN" diagnose "$work/teed" --json
launch unread 1 --run-dir "$work/unread" --rank-output files --no-diagnose --no-history -- sh -c 'python3 gone.py'
expect 1 "at: rank 0 on $(hostname)" "$DDLRUN" diagnose "$work/unread"
expect_refusal 3 'Is a directory' "$DDLRUN" diagnose "$work"

# --- logs: what --tee kept of a run; else the command that shows its last lines
launch kept 1 --tee -- sh -c 'echo early; echo odd >&2; printf end'
kept=$(basename "$(directory_of kept)")
expect 0 "==> $runs/$kept/out/rank-0000.out <==" "$DDLRUN" logs "$kept"
same "logs of a run" "$(printf '%s\n' "==> $runs/$kept/out/rank-0000.out <==" early end "==> $runs/$kept/out/rank-0000.err <==" odd)" \
  "$(cat "$work/out")"
expect 0 "==> $runs/$kept/out/rank-0000.out <==" "$DDLRUN" logs last
expect 0 "has ended with status 0" "$DDLRUN" logs -f "$kept"
for follow in '' -f; do
  expect_refusal 3 "try: ddlrun diagnose $bad " "$DDLRUN" logs $follow "$bad"
done
launch silent 1 --tee -- true
silent=$(basename "$(directory_of silent)")
expect 0 "the ranks of run $silent wrote nothing; it ended with status 0" "$DDLRUN" logs "$silent"
rm -r "${runs:?}/$silent"
for mode in screen files; do
  "$DDLRUN" launch 1 --rank-output $mode -- sleep 60 > /dev/null 2> waiting.err &
  head=$!
  for _ in $(seq 100); do [[ -s $(directory_of waiting 2> /dev/null)/run.json ]] && break; sleep 0.1; done
  waiting=$(basename "$(directory_of waiting)")
  if [ $mode = screen ]; then
    expect_refusal 3 "try: ddlrun top $waiting " "$DDLRUN" logs last
  else
    expect 0 "the ranks of run $waiting have written nothing yet; ddlrun logs -f $waiting follows" "$DDLRUN" logs last
  fi
  kill -TERM $head && wait $head 2> /dev/null
  rm -r "${runs:?}/$waiting"
done
"$DDLRUN" launch 1 --rank-output files -- sh -c 'echo first; until [ -e "$0" ]; do sleep 0.1; done; echo second; exit 4' \
  "$work/go" > /dev/null 2> followed.err &
for _ in $(seq 100); do grep -q 'output of the ranks' followed.err && break; sleep 0.1; done
has "rank files are named at the start" followed.err "ddlrun: output of the ranks: $(directory_of followed)/out   # ddlrun logs -f last"
"$DDLRUN" logs -f last > follow 2> follow.err &
follower=$!
for _ in $(seq 100); do grep -q first follow && break; sleep 0.1; done
touch "$work/go"
wait $follower
same "logs -f of a run: its status" 4 $?
same "logs -f of a run" "$(printf '%s\n' "==> $(directory_of followed)/out/rank-0000.out <==" first second)" "$(cat follow)"
has "logs -f of a run: its end" follow.err "has ended with status 4"
rm -r "$(directory_of followed)"
rm -r "${runs:?}/$kept"

# --- newest first; results; where the other list is
expect 0 'ddlrun jobs' "$DDLRUN" history
same "history: rows" "$bad $well" "$(awk 'NR > 1 { printf "%s%s", s, $1; s = " " }' "$work/out")"
has "history" "$work/out" "status 7"
has "history" "$work/out" "rank 0 on $(hostname): status 7"
expect 0 '' "$DDLRUN" history --failed
same "history --failed" "$bad" "$(awk 'NR > 1 { print $1 }' "$work/out")"
expect 0 'older runs are not shown: 1' "$DDLRUN" history --limit 1
expect_refusal 2 'must be a number' "$DDLRUN" history --limit few
expect 0 '' "$DDLRUN" history --json
same "history --json" "ended 7 ended 0" "$(python3 -c 'import json, sys
print(*[x for r in json.load(open(sys.argv[1]))["runs"] for x in (r["state"], r["exit_status"])])' "$work/out")"

# --- running, by pid and start time; a number that somebody else has is not it
"$DDLRUN" launch 1 -- sleep 60 > /dev/null 2> running.err &
head=$!
for _ in $(seq 100); do [[ -s $(directory_of running 2> /dev/null)/run.json ]] && break; sleep 0.1; done
expect 0 'running' "$DDLRUN" history
running=$(directory_of running)
cp -r "$running" "$runs/20200101-000000-forged"
sed -i 's/"started_ticks": [0-9]*/"started_ticks": 1/' "$runs/20200101-000000-forged/run.json"
expect 0 '' "$DDLRUN" history
grep -q '^20200101-000000-forged.*running' "$work/out" && fail "a pid alone was believed"
{ kill -KILL $head && wait $head; } 2> /dev/null
expect 0 'ended unseen' "$DDLRUN" history --failed
has "history: killed" "$work/out" "$(basename "$running")"
expect 1 'ended unseen: ddlrun was killed, the host went down, or the disk was full' "$DDLRUN" diagnose "$running"
has_not "diagnose: killed" "$work/out" "no known failure"

# --- cancel: TERM to the ddlrun that started the run, on this host, and to no other process
expect 0 'is over already: its ddlrun no longer runs' "$DDLRUN" cancel 20200101-000000-forged
"$DDLRUN" launch 1 -- sh -c "trap 'echo saved > $work/saved; exit 75' TERM; : > $work/ready; sleep 60 & wait" > /dev/null 2> cancelled.err &
head=$!
for _ in $(seq 100); do [[ -e $work/ready ]] && break; sleep 0.1; done
expect 0 'is ended' "$DDLRUN" cancel "$(basename "$(directory_of cancelled)")"
same "cancel: the program saved" saved "$(cat "$work/saved")"
run "$DDLRUN" wait "$(basename "$(directory_of cancelled)")"
same "wait: a run that has ended" 75 "$status"
# last: the newest run, where no job is newer.
"$DDLRUN" launch 1 -- sh -c ": > $work/again; sleep 60" > /dev/null 2> newest.err &
head=$!
for _ in $(seq 100); do [[ -e $work/again ]] && break; sleep 0.1; done
"$DDLRUN" wait last 2> waited.err &
waiter=$!
expect 0 "run $(basename "$(directory_of newest)") is ended" "$DDLRUN" cancel last
wait $waiter
same "wait last: the status of the run" 143 $?
has "wait last" waited.err "run $(basename "$(directory_of newest)") has ended with status 143"
wait $head 2> /dev/null
expect 0 "run $(basename "$(directory_of newest)") is over already" "$DDLRUN" cancel last
has_not "cancel last: no other run" "$work/out" "still runs"
"$DDLRUN" launch 1 -- sh -c ": > $work/older; sleep 60" > /dev/null 2> older.err &
head=$!
for _ in $(seq 100); do [[ -e $work/older ]] && break; sleep 0.1; done
sleep 1.1
"$DDLRUN" launch 1 -- true > /dev/null 2>&1
older=$(basename "$(directory_of older)")
expect 0 "run $older still runs: ddlrun cancel $older" "$DDLRUN" cancel last
expect 0 'is ended' "$DDLRUN" cancel "$older"
wait $head 2> /dev/null
for signal in INT TERM; do
  env --default-signal=INT "$DDLRUN" launch 1 -- sleep 60 > /dev/null 2> stopped.err &
  head=$!
  for _ in $(seq 100); do [[ -s $(directory_of stopped 2> /dev/null)/run.json ]] && break; sleep 0.1; done
  sleep 1
  kill -$signal $head
  wait $head 2> /dev/null
  expect 0 '' "$DDLRUN" history --limit 1
  has "history: SIG$signal to ddlrun" "$work/out" "cancelled"
  has "history: SIG$signal to ddlrun" "$work/out" "stopped by signal $(kill -l $signal) (SIG$signal)"
  run "$DDLRUN" history --failed
  has_not "history --failed: SIG$signal to ddlrun" "$work/out" "$(basename "$(directory_of stopped)")"
done
wait $head
expect 0 'is over already: exit status' "$DDLRUN" cancel "$(basename "$(directory_of cancelled)")"
sed 's/"host": "[^"]*"/"host": "elsewhere"/' -i "$runs/20200101-000000-forged/run.json"
expect_refusal 3 "ssh -- elsewhere 'ddlrun cancel 20200101-000000-forged'" "$DDLRUN" cancel 20200101-000000-forged
expect_refusal 3 'no run has an ID' "$DDLRUN" cancel 20200101-000000-missing

# A record of another user puts no word into a command.
sed 's/"host": "[^"]*"/"host": "-oProxyCommand=touch"/' -i "$runs/20200101-000000-forged/run.json"
expect_refusal 3 "'-oProxyCommand=touch' is no host name" "$DDLRUN" cancel 20200101-000000-forged
mkdir last && cp "$runs/20200101-000000-forged/run.json" last
run "$DDLRUN" report last -o -
has_not "a directory last is not the newest run" "$work/err" "no host name"
rm -r last
sed 's/"host": "[^"]*"/"host": "elsewhere"/' -i "$runs/20200101-000000-forged/run.json"

# --- runs of one second: sorted by their recorded start, not by their names
base=$(date -u +%Y%m%d-%H%M%S -d '2001-02-03 04:05:06 UTC')
for row in "a 300" "b 500" "c 400"; do
  read -r name micros <<< "$row"
  cp -r "$runs/$well" "$runs/$base-$name"
  sed -i -e "s/\"start_us\": [0-9]*/\"start_us\": 981173106000$micros/" -e "s/\"id\": \"[^\"]*\"/\"id\": \"$base-$name\"/" \
    "$runs/$base-$name/run.json"
done
expect 0 '' "$DDLRUN" history
same "history: runs of one second" "$base-b $base-c $base-a" "$(grep -o "^$base-." "$work/out" | tr '\n' ' ' | sed 's/ $//')"
mkdir state.2001
mv "$runs"/* state.2001
mv state.2001/"$base"-* "$runs"
expect 0 '"id": "'"$base-b"'"' cat "$runs/$base-b/run.json"
expect 0 'once more' "$DDLRUN" replay last --dry-run -x KEY=1
has "last of one second" "$work/err" "run $base-b once more"
rm -r "$runs/$base"-?
mv state.2001/* "$runs"

# --- damaged directories are reported
mkdir "$runs/20210101-000000-empty" "$runs/20210101-000000-half"
head -c 300 "$runs/$well/run.json" > "$runs/20210101-000000-half/run.json"
expect 0 'damaged' "$DDLRUN" history
same "history: damaged" 2 "$(grep -c damaged "$work/out")"
rm -r "$runs"/202?0101-*

# --- what runs are called
for word in "$well" "${well%???}" "$runs/$well"; do expect 0 '<!DOCTYPE html>' "$DDLRUN" report "$word" -o -; done
expect 0 'wrote' "$DDLRUN" report last
check "last is the newest" test -s "$(directory_of stopped)/report.html"
expect_refusal 3 'runs have an ID that begins with this' "$DDLRUN" report "${well:0:2}"
expect_refusal 3 'no run has an ID' "$DDLRUN" report 1999
expect_refusal 3 'no run.json' "$DDLRUN" report ./here

# --- replay: the same arguments, options and places; a new directory that names the old one
# shellcheck disable=SC2016
launch first 1 --verify --rank-output prefix -- sh -c 'for w; do echo "<$w>"; done' sh 'a b' '' '-x' '--'
first=$(basename "$(directory_of first)")
status=0
"$DDLRUN" replay "$first" > again.out 2> again.err < /dev/null || status=$?
same "replay: status" 0 "$status"
same "replay: output" "$(cat first.out)" "$(cat again.out)"
again=$(directory_of again)
has "replay" "$again/run.json" "\"replay_of\": \"$first\""
same "replay: rankfile" "$(cat "$runs/$first/rankfile")" "$(cat "$again/rankfile")"
without_token() { tr '\0' '\n' < "$1/argv.nul" | sed -e 's/^[0-9a-f]\{16\}$/TOKEN/' -e 's:/runs/[^/]*/:/runs/RUN/:'; }
same "replay: argv" "$(without_token "$runs/$first")" "$(without_token "$again")"
has_not "replay" again.err "is not what it was"
run "$DDLRUN" replay "$first" -- more
same "replay: more words" '[0] <more>' "$(tail -1 "$work/out")"
run "$DDLRUN" replay "$(basename "$again")" --dry-run
check "replay --dry-run: a script" bash -n "$work/out"
has "replay of a replay" "$work/err" "once more"

# --- never values; differences are reported
check "no value in any directory" bash -c '! grep -rq s3cret "$1"' bash "$runs"
expect_refusal 2 'KEY' "$DDLRUN" replay "$well"
grep -q 'try: -x KEY=value$' "$work/err" || fail "replay: no hint that it takes: $(cat "$work/err")"
expect 0 '' "$DDLRUN" replay "$well" -x KEY=g1ven
has_not "replay -x NAME=value" "$work/err" 'perhaps not those of then'
check "replay -x NAME=value: kept nowhere" bash -c '! grep -rq g1ven "$1"' bash "$runs"
KEY=third expect 0 'perhaps not those of then: KEY' "$DDLRUN" replay last
KEY=other expect 0 'perhaps not those of then: KEY' "$DDLRUN" replay "$well"
PATH=$PATH:/nowhere KEY=x expect 0 'PATH is not what it was then' "$DDLRUN" replay "$well"
sed -i 's/"mpirun": "[45][^"]*"/"mpirun": "4.0.0"/' "$runs/$first/run.json"
expect 0 'mpirun has changed: 4.0.0 then' "$DDLRUN" replay "$first" --dry-run

# --- another machine, other hosts, another directory: refused with both values
cp -r "$runs/$first" "$runs/20200101-000000-other"
sed -i 's/"hosts": \["[^"]*"\]/"hosts": ["h9"]/' "$runs/20200101-000000-other/run.json"
expect_refusal 3 'then h9, now' "$DDLRUN" replay 2020
cp "$runs/$first/run.json" "$runs/20200101-000000-other/run.json"
"$DDLRUN" topo --sockets 3 --cores 7 --json > "$runs/20200101-000000-other/topology-0.json"
expect_refusal 3 'then 3 packages, 21 cores, 21 PUs, 0 GPUs, now' "$DDLRUN" replay 2020
mkdir elsewhere
cd elsewhere || exit 2
cp -r "$runs/$first" "$work/kept"
for run in "$first" ../kept; do
  expect_refusal 3 "that run was started in $work" "$DDLRUN" replay "$run"
  hint=$(sed -n 's/^  try: //p' "$work/err")
  expect 0 "run $first once more" env PATH="$(dirname "$DDLRUN"):$PATH" bash -c "$hint --dry-run"
done
# --- runs in a directory of their own and runs of jobs are listed; a job's id finds its run
expect 0 '' "$DDLRUN" launch 1 --run-dir own -- sh -c 'echo own'
expect 0 '' "$DDLRUN" history --limit 1 --json
same "history: --run-dir" "$PWD/own" "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["runs"][0]["directory"])' "$work/out")"
expect 0 '' "$DDLRUN" launch 1 --run-dir unlisted --no-history -- true
expect_refusal 2 'without --run-dir' "$DDLRUN" launch 1 --no-history -- true
expect 3 '' "$DDLRUN" submit --local --doctor off 1 -- sh -c 'exit 3'
job=$(head -n 1 "$work/out")
expect 0 "${job%%-*}" "$DDLRUN" history --limit 1
has "history: the run of a job" "$work/out" "rank 0 on $(hostname): status 3"
grep -q unlisted "$work/out" && fail "--no-history is listed"
expect 0 '' "$DDLRUN" report "$job" -o job.html
has "report of a job" job.html 'sh -c'
expect 3 'once more' "$DDLRUN" replay "$job"
mkdir far
cp -r "$(find ddlrun-jobs -name 'run.*' -type d)" far/run
sed -i -e 's/"host": "[^"]*"/"host": "far"/' -e 's/"job": "[^"]*"/"job": "4711"/' far/run/run.json
expect_refusal 3 'ddlrun resubmit 4711' "$DDLRUN" replay far/run

# --- runs in jobs of plain sbatch: one question for all shows how each ended; a job of that number on other hosts is none
mkdir slurm
for tool in sbatch squeue sacct scontrol; do
  printf '#!/bin/bash\necho "%s $*" >> "%s/asked"\n' $tool "$work" > slurm/$tool
  chmod +x slurm/$tool
done
cat >> slurm/sacct << END
echo "4801|TIMEOUT|0:0|$(hostname)|gpu|00:01:00"
echo "4802|CANCELLED by 0|0:0|$(hostname -s)|gpu|00:01:00"
echo "4803|TIMEOUT|0:0|other-host|gpu|00:01:00"
echo "4804_1|COMPLETED|0:0|$(hostname)|gpu|00:01:00"
echo "4805|TIMEOUT|0:0|$(hostname)|gpu|00:01:00"
echo "4806|TIMEOUT|0:0|$(hostname)|gpu|00:01:00"
END
forge() { # JOB SIGNAL: a run without an end, or one that the signal ended
  cp -r "$runs/$well" "$runs/20990101-000000-$1"
  python3 - "$runs/20990101-000000-$1/run.json" "$1" "$2" << 'END'
import json, sys
run = json.load(open(sys.argv[1]))
run["job"], run["process"]["started_ticks"] = sys.argv[2], 1
run["end"] = run["end"] | {"exit_status": 128 + int(sys.argv[3]), "stopped_by": int(sys.argv[3])} if sys.argv[3] != "0" else None
json.dump(run, open(sys.argv[1], "w"))
END
}
for row in '4801 0' '4802 0' '4803 0' '4804_1 0' '4805 15' '4806 2'; do
  # shellcheck disable=SC2086 # two words
  forge $row
done
ends_of_jobs() {
  sed -n 's/^20990101-000000-//p' "$work/out" | sort |
    sed -E 's/^([0-9_]+) .*(timed out|cancelled|ended unseen).*/\1 \2/' | tr '\n' ';'
}
expect 0 '' env PATH="$PWD/slurm:$PATH" "$DDLRUN" history
same "history: jobs of sbatch" \
  '4801 timed out;4802 cancelled;4803 ended unseen;4804_1 ended unseen;4805 timed out;4806 cancelled;' "$(ends_of_jobs)"
for tool in squeue sacct; do same "history: $tool is asked once" 1 "$(grep -c "^$tool" "$work/asked")"; done
has_not "history: what Ctrl-C ended" "$work/asked" 4806
rm -r "$runs"/20990101-*

# --- a run is called by its program's base name; a failure is never without a reason
printf '#!/bin/sh\nexit 4\n' > long_name.sh
chmod +x long_name.sh
expect 4 '' "$DDLRUN" launch 1 --no-monitor --no-diagnose -- "$PWD/long_name.sh" --epochs 3
expect 0 '' "$DDLRUN" history --limit 1
has "history: title" "$work/out" " long_name.sh --epochs 3 "
has "history: reason" "$work/out" "openmpi ended with status 4"
expect 0 '' "$DDLRUN" report last -o title.html
has "report: title" title.html '<title>long_name.sh --epochs 3, run '

# --- the bundled trainer's metrics lie in the run directory without being asked for
if [[ -x $DDLRUN_BUILD_DIR/runtime/ddl-train ]]; then
  expect 0 '' "$DDLRUN" launch 1 -- --data "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" --epochs 2 --quiet
  expect 0 ' %  ddl-train ' "$DDLRUN" history --limit 1
  [[ $("$DDLRUN" history --limit 1 --json) == *'"test_accuracy": 0.'* ]] || fail "no accuracy in history --json"
  expect 0 '' "$DDLRUN" report last -o curves.html
  has "report: curves" curves.html '<h2>Training</h2>'
  expect 0 '' "$DDLRUN" launch 1 -- --data "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" --epochs 1 --quiet --metrics own.jsonl
  [[ -s own.jsonl ]] || fail "--metrics of the user is not used"
  [[ $("$DDLRUN" history --limit 1 --json) == *'"test_accuracy": 0.'* ]] || fail "no accuracy of --metrics in history --json"
fi

# --- old runs are removed, those elsewhere only from the list; a running one stays
expect 0 'removed' "$DDLRUN" history --prune 90d
cp -r "$runs/$(ls "$runs" | tail -n 1)" "$runs/20200101-000000-old"
mkdir "$runs/20200101-000001-link"
echo "$PWD/own" > "$runs/20200101-000001-link/directory"
count=$(ls "$runs" | wc -l)
expect_refusal 2 'not an age' "$DDLRUN" history --prune 90
expect 0 '2 runs removed' "$DDLRUN" history --prune 90d
same "history --prune" "$((count - 2))" "$(ls "$runs" | wc -l)"
[[ -s own/run.json ]] || fail "--prune removed a directory of the user"

# What the advice on a crash leads to: gdb writes to stdout, and diagnose reads the file of the rank.
if command -v gdb >/dev/null && command -v gcc >/dev/null; then
  printf 'static int sum_row(int *p) { return p[3]; }\nint main(int n, char **a) { return n > 1 ? 0 * a[0][0] : sum_row(0); }\n' > crash.c
  gcc -g -o crash crash.c
  gdb=(gdb -batch -return-child-result -ex run -ex bt -ex echo --args)
  expect 139 'gdb -batch -return-child-result -ex run -ex bt -ex echo --args ./crash' "$DDLRUN" launch 1 -- ./crash
  expect 255 '' "$DDLRUN" launch 1 --rank-output files -- "${gdb[@]}" ./crash
  expect 1 'cause: a rank crashed (SIGSEGV) in sum_row (crash.c:1)' "$DDLRUN" diagnose last
  expect 0 '' "$DDLRUN" launch 1 --rank-output files -- "${gdb[@]}" ./crash well
fi
finish
