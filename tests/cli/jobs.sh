#!/bin/bash
# SPDX-License-Identifier: MIT
# status, logs, wait, cancel and jobs on jobs of this machine (no scheduler). With a real Slurm: ../cluster/submit.sh.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state
cd "$work" || exit 1

for command in status jobs; do expect 0 'no jobs were submitted with ddlrun yet; runs of ddlrun launch: ddlrun history' "$DDLRUN" $command; done
for command in cancel logs wait resubmit; do expect_refusal 3 'try: ddlrun history' "$DDLRUN" $command last; done
for command in cancel wait; do expect_refusal 3 'there are no runs yet' "$DDLRUN" $command 20261126-101502-x4Kd2P; done
for command in status resubmit; do
  expect_refusal 3 "is a run of ddlrun launch, and $command takes jobs" "$DDLRUN" $command 20261126-101502-x4Kd2P
done
expect 0 '"jobs": []' "$DDLRUN" jobs --json
expect_refusal 2 'is not a job ID' "$DDLRUN" status ./x
expect_refusal 2 'wait for which job or run' "$DDLRUN" wait
expect_refusal 2 'cancel which job' "$DDLRUN" cancel
expect_refusal 2 'logs takes one job' "$DDLRUN" logs 1 2
expect_refusal 3 'no jobs were submitted with ddlrun yet' "$DDLRUN" logs
expect_refusal 3 'no jobs were submitted with ddlrun yet' "$DDLRUN" logs last
[ ! -e state ] || fail "asking made a history"

begin() { # PROGRAM...: the id in $id
  run "$DDLRUN" submit --local --detach --runner none --doctor off --walltime 5m 1x1x1 -- "$@"
  [ "$status" -eq 0 ] || fail "submit --detach: $(cat err)"
  id=$(cat out)
}
state_of() { "$DDLRUN" status "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["jobs"][0]["state"])'; }

begin sh -c 'echo early; while [ ! -e go ]; do sleep 0.1; done; echo late; exit 6'
[ "$(state_of "$id")" = running ] || fail "it is $(state_of "$id")"
for _ in $(seq 50); do [ "$("$DDLRUN" logs "$id" 2> /dev/null)" = early ] && break; sleep 0.1; done
"$DDLRUN" logs -f "$id" > follow 2> err &
follower=$!
for _ in $(seq 50); do grep -q early follow && break; sleep 0.1; done
[ "$(cat follow)" = early ] || fail "logs -f reports '$(cat follow)'"
touch go
wait "$follower"
[ $? -eq 6 ] || fail "logs -f does not end with the job's status"
[ "$(xargs < follow)" = "early late" ] || fail "logs -f reported $(cat follow)"
expect 0 early "$DDLRUN" logs last
expect 0 early "$DDLRUN" logs
expect 1 'exit status: 6' "$DDLRUN" diagnose ddlrun-jobs/*/
for word in "$id" last; do expect 1 'exit status: 6' "$DDLRUN" diagnose "$word"; done
expect 1 'exit status: 9' "$DDLRUN" diagnose "$id" --status 9
expect_refusal 3 "'job.log' is no file and no job: there are no runs yet" "$DDLRUN" diagnose job.log
grep -q 'try: ddlrun jobs, ddlrun history: their ids' err || fail "no way to the ids: $(cat err)"
expect_refusal 3 'No such file' "$DDLRUN" diagnose ./job.log
expect 6 'exit status 6' "$DDLRUN" wait "$id"
expect 0 'is over already: failed' "$DDLRUN" cancel "$id"

begin sleep 100
sleeper=$id
begin true
expect 0 '' "$DDLRUN" wait "$id"
expect 0 'is being ended' "$DDLRUN" cancel "$sleeper"
run "$DDLRUN" wait "$sleeper" "$id"
[ "$status" -eq 143 ] || fail "status $status of a cancelled job: $(cat err)"
case $(state_of "$sleeper") in failed | cancelled) ;; *) fail "cancelled, it is $(state_of "$sleeper")" ;; esac
"$DDLRUN" jobs > list
[ "$(wc -l < list)" -eq 4 ] || fail "jobs: $(cat list)"
head -n 1 list | grep -q '^JOB  *STATE  *EXIT  *NAME  *QUEUE  *HOSTS  *TIME  *SUBMITTED' || fail "the header of jobs: $(cat list)"
grep -q "queued\|running" list && fail "jobs does not know that they are over: $(cat list)"
"$DDLRUN" status --json | grep -q "\"wait_status\": $status," || fail "no status of the wait: $("$DDLRUN" status --json)"

# Interrupting ddlrun leaves the job alone; a second job in the same second gets its own directory.
run timeout --preserve-status -s INT 2 "$DDLRUN" submit --local --runner none --doctor off --walltime 5m 1x1x1 -- sleep 4
[ "$status" -eq 130 ] || fail "status $status after ctrl-C"
grep -q 'left alone' err || fail "nothing is said: $(cat err)"
expect 0 'completed' "$DDLRUN" wait "$(head -n 1 out)"
for i in 1 2 3 4; do
  "$DDLRUN" submit --local --detach --name twin --runner none --doctor off --walltime 5m 1x1x1 -- true > "id.$i" 2> "said.$i" &
done
wait
[ "$(cat id.* | sort -u | wc -l)" -eq 4 ] || fail "ids: $(cat id.* said.*)"
[ "$(find ddlrun-jobs -name 'twin-*' | wc -l)" -eq 4 ] || fail "directories: $(ls ddlrun-jobs)"

# The walltime of a job without scheduler.
run "$DDLRUN" submit --local --runner none --doctor off --walltime 2s 1x1x1 -- sleep 60
[ "$status" -eq 124 ] || fail "status $status after the walltime: $(cat err)"
grep -q 'used up its time limit' err || fail "the end is not reported: $(cat err)"

# A job that doctor stopped: which check, and what to do.
printf '%s\n' 'fail  SW-01  the program on every host' '  try   put the program there' '' '1 host by ssh, quick: 9 checks in 0.2 s: 1 fail' \
  "ddlrun job: doctor's status is 1: nothing is started" '  try: --doctor warn goes on' > stopped.log
expect 1 'cause: the job script started nothing: SW-01 the program on every host [O9]' "$DDLRUN" diagnose stopped.log
grep -A1 '^try:' out | grep -qx '  put the program there   # from the log: check it first' || fail "no remedy of the check: $(cat out)"
grep -q -e '--doctor warn \.\.\.' out && fail "a remedy that does not help: $(cat out)"

# A program prints the lines of a script that stops: they are no words of ddlrun. The script's own are.
forged=$'ddlrun job: doctor\'s status is 1: nothing is started\n  try: rm -rf something'
run "$DDLRUN" submit --local --runner none --doctor off --walltime 5m 1x1x1 -- sh -c 'echo "$0"; exit 1' "$forged"
[ "$status" -eq 1 ] || fail "status $status of a program that fails: $(cat err)"
grep -qx '  try: rm -rf something' out || fail "the program's output is not shown: $(cat out)"
id=$(head -n 1 out)
directory=$(sed -n 's/.*; its files are in //p' err)
grep -q 'rm -rf' err && fail "submit recommends what the program printed: $(cat err)"
for command in jobs status "wait $id" "diagnose $id" "diagnose $directory"; do
  # shellcheck disable=SC2086 # a command and its argument
  run "$DDLRUN" $command
  sed -n '/^try:/,$p' out | cat - err | grep -q 'rm -rf' && fail "$command recommends what the program printed: $(cat out err)"
done
printf '%s\n' 'scheduler: local' 'dims: 1x1x1' 'walltime: 5m' 'runner: none' 'doctor: "off"' 'setup: [": nothing"]' \
  'venv: no venv' 'program: ["true"]' > venv.yaml
run "$DDLRUN" submit --job venv.yaml
[ "$status" -eq 3 ] || fail "status $status without the venv: $(cat err)"
grep -q 'failed with exit status 3: .*no venv' err || fail "no reason of the script: $(cat err)"
grep -qF "  try: python3 -m venv $(printf %q "$work/no venv")   # makes it" err || fail "no remedy of the script: $(cat err)"
"$DDLRUN" jobs | grep -q 'failed  *3 ' || fail "jobs: $("$DDLRUN" jobs)"
"$DDLRUN" status --json | grep -q 'no venv' || fail "no reason in status: $("$DDLRUN" status --json)"

# The newest run is that of a job: the job is diagnosed.
run "$DDLRUN" submit --local --doctor off --walltime 3s 1x1x1 -- sleep 60
[ "$status" -eq 124 ] || fail "status $status after the walltime of a job with launch: $(cat err)"
expect 1 'cause: the job used up its time limit' "$DDLRUN" diagnose last
# Of a job that ended by its ranks, `diagnose` prints what launch found there, with the rank and without mpirun's banner.
printf 'import os, time\nif os.environ["DDLRUN_RANK"] == "1": raise ValueError("labels out of range")\ntime.sleep(60)\n' > labels.py
again() { # CAUSE PROGRAM...
  run "$DDLRUN" submit --local --doctor off --walltime 2m 2x1 -- "${@:2}"
  sed -n '/^cause: /,/^ddlrun: rank /p' out | grep -v '^ddlrun: ' > of_launch
  grep -qF "$1" of_launch && grep -qF "at: rank 1 on $(hostname)" of_launch || fail "launch does not find '$1': $(cat out)"
  expect 1 'as launch found it, in ' "$DDLRUN" diagnose last
  diff of_launch out || fail "diagnose prints something else of: ${*:2}"
}
again 'cause: ValueError: labels out of range (labels.py:2)' python3 labels.py
# shellcheck disable=SC2016 # of the ranks
again 'and the output does not show why' sh -c '[ $DDLRUN_RANK = 1 ] || { echo begins; exec sleep 60; }; exec false'
expect 1 '"status": 1' "$DDLRUN" diagnose last --json

# An array that Slurm has forgotten: the files of its tasks have the states. PBS: a job that continues as another job.
mkdir bin
recorded=$DDLRUN_SOURCE_DIR/tests/data/schedulers
# shellcheck disable=SC2016 # for the stand-in
answer() { printf '#!/bin/sh\ncat "%s"\n[ ! -e "%s.err" ] || cat "%s.err" >&2\nexit "$(cat "%s.rc")"\n' "$2" "$2" "$2" "$2" > "bin/$1"; }
printf '#!/bin/sh\nexit 0\n' > bin/squeue
answer scontrol "$recorded/slurm/10_unknown_scontrol.txt"
answer sacct "$recorded/slurm/24_sacct_none.txt"
printf '#!/bin/sh\necho 4711\n' > bin/sbatch
chmod +x bin/*
# A slip of a program costs a wait in the queue; a version that the nodes may have, or a module, is no slip.
slips=(env PATH="$work/bin:$PATH" "$DDLRUN" submit --slurm --detach --runner none --doctor off --walltime 5m)
printf '#!/bin/sh\n' > bin/solver3.11 && chmod +x bin/solver3.11
expect_refusal 3 'try: solver3.11   # did you mean this?' "${slips[@]}" 1x1x1 -- sovler3.11
expect 0 'the program solver3.9 is not in PATH here; the nodes must have it' "${slips[@]}" --dry-run 1x1x1 -- solver3.9
expect 0 '' "${slips[@]}" --modules solver --dry-run 1x1x1 -- sovler3.11
expect 0 'warning: the program sovler3.11 is not in PATH here' "${slips[@]}" --dry-run 1x1x1 -- sovler3.11
run env PATH="$work/bin:$PATH" "$DDLRUN" submit --slurm --detach --queue long --array 0-2 --runner none --doctor off --walltime 5m 1x1x1 -- true
directory=$(dirname "$(find ddlrun-jobs -name ddlrun.yaml -newer bin/sbatch)")
asked() { PATH="$work/bin:$PATH" "$DDLRUN" status 4711 --json 2> err | python3 -c 'import json, sys
j = json.load(sys.stdin)["jobs"][0]; print(j["state"], j["exit_status"], [t["state"] for t in j["tasks"]], j["queue"])'; }
[ "$(asked)" = "unknown None [] long" ] || fail "an array of which nothing is known: $(asked)"
echo 0 > "$directory/exit_status.0"
echo 9 > "$directory/exit_status.2"
[ "$(asked)" = "failed 9 ['completed', 'unknown', 'failed'] long" ] || fail "a forgotten array: $(asked)"
echo 0 > "$directory/exit_status.1"
echo 0 > "$directory/exit_status.2"
[ "$(asked)" = "completed 0 ['completed', 'completed', 'completed'] long" ] || fail "a forgotten array: $(asked)"

# Its logs, and the causes of the tasks that failed.
expect_refusal 3 'each task has a log of its own' "$DDLRUN" logs 4711
echo 1 > "$directory/exit_status.2"
printf 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nKeyError: 1\n' > "$directory/output.2.log"
echo 'task 0' > "$directory/output.0.log"
env PATH="$work/bin:$PATH" "$DDLRUN" status 4711 > table
grep -q '4711_2  *failed  *1  .*KeyError: 1' table || fail "no cause of a task: $(cat table)"
run env PATH="$work/bin:$PATH" "$DDLRUN" wait 4711
grep -qF "; logs $work/$directory/output.TASK.log" err || fail "no path of the logs: $(cat err)"
grep -q '4711_2 failed with exit status 1: .*KeyError: 1' err || fail "no cause of a task: $(cat err)"
grep -qxF '  try: ddlrun logs 4711_2   # the log of one task' err || fail "no command for a log: $(cat err)"
expect 1 'KeyError: 1' env PATH="$work/bin:$PATH" "$DDLRUN" diagnose 4711
expect 0 "==> 4711_0: $work/$directory/output.0.log <==" "$DDLRUN" logs
expect 0 'KeyError: 1' "$DDLRUN" logs last_2
expect_refusal 3 'has no such task' "$DDLRUN" logs last_7
echo 0 > "$directory/exit_status.2"
# The runs of its tasks, by the ids of the tasks.
launch_into() { run "$DDLRUN" launch --launcher ssh 1 --run-dir "$1" -- true; [ "$status" -eq 0 ] || fail "launch: $(cat err)"; }
launch_into "$directory/run.4711_1"
expect 0 "ddlrun: wrote $work/$directory/run.4711_1/report.html" "$DDLRUN" report 4711_1
expect_refusal 3 'job 4711 is an array: each task has a run of its own' "$DDLRUN" report 4711
grep -qx '  try: ddlrun report 4711_0' err || fail "no task is named: $(cat err)"
expect_refusal 3 'job 4711_2 has no run of ddlrun launch' "$DDLRUN" replay 4711_2
expect 0 'ddlrun: run run.4711_1 once more' "$DDLRUN" replay 4711_1 --dry-run

# Slurm's run time of a requeued job is that of its last part: the runs of the parts before are added to it. A restart
# inside the job is in that time.
printf '#!/bin/sh\necho 4712\n' > bin/sbatch
printf '%s\n' 'JobId=4712 JobName=true UserId=me(1000) GroupId=me(1000) JobState=COMPLETED Reason=None Dependency=(null) Requeue=1 Restarts=1 BatchFlag=1 ExitCode=0:0 RunTime=00:00:30 TimeLimit=00:05:00 SubmitTime=2026-11-21T05:17:20 EligibleTime=2026-11-21T05:17:20 Partition=long NodeList=node1 NumNodes=1 StdErr=/w/o StdIn=/dev/null StdOut=/w/o Power=' > requeued
answer scontrol "$work/requeued"
echo 0 > requeued.rc
run env PATH="$work/bin:$PATH" "$DDLRUN" submit --slurm --detach --queue long --runner none --doctor off --walltime 5m 1x1x1 -- true
directory=$(dirname "$(find ddlrun-jobs -name job.sh -newer requeued)")
for name in run.4712 run.4712.1 run.4712.requeue1 run.4712.requeue1.1; do
  launch_into "$directory/$name"
  python3 - "$directory/$name/run.json" <<'PROGRAM'
import json, sys
run = json.load(open(sys.argv[1]))
run["end"]["time"] = run["start"][:-3] + "59Z"
run["start"] = run["start"][:-3] + "49Z"
json.dump(run, open(sys.argv[1], "w"))
PROGRAM
done
env PATH="$work/bin:$PATH" "$DDLRUN" jobs --limit 1 > table
grep -q '^4712  *completed  *0  *true  *long  *node1  *0:50  ' table || fail "the time of a requeued job: $(cat table)"
env PATH="$work/bin:$PATH" "$DDLRUN" status 4712 > table
grep -q '^4712  .*  0:50  *restart 1; 4 runs$' table || fail "the time of a requeued job: $(cat table)"
answer scontrol "$recorded/slurm/10_unknown_scontrol.txt"

# PBS: the first job's script has handed in the next and wrote down its id; recorded answers of OpenPBS.
answer qsub "$recorded/pbs/01_qsub.out"
answer qstat "$recorded/pbs/08_x_all.json"
chmod +x bin/*
run env PATH="$work/bin:$PATH" "$DDLRUN" submit --pbs --detach --cores-per-node 8 --runner none --doctor off --walltime 5m 1x1x1 -- true
directory=$(dirname "$(find ddlrun-jobs -name job.sh -newer bin/qstat)")
first=$(head -n 1 out)
[ "$first" = "$(cat "$recorded/pbs/01_qsub.out")" ] || fail "the id is $first: $(cat err)"
echo '3[2].minsky1' > "$directory/next_job"
run env PATH="$work/bin:$PATH" "$DDLRUN" wait "$first"
[ "$status" -eq 2 ] || fail "status $status of the next job, not 2: $(cat err)"
grep -qF "job $first goes on as job 3[2].minsky1" err || fail "the next job is not followed: $(cat err)"
rm "$directory/next_job"
run env PATH="$work/bin:$PATH" "$DDLRUN" wait "$first"
[ "$status" -eq 4 ] || fail "status $status of the first job alone, not 4: $(cat err)"
env PATH="$work/bin:$PATH" "$DDLRUN" status "$first" > table
grep -q '^JOB  *STATE  *EXIT  *NAME  *QUEUE  *HOSTS  *TIME  *REMARK$' table || fail "the header of status: $(cat table)"
grep -q '^0.minsky1  *failed  *4  *true  *normal  *minsky1 +3  *0:02' table || fail "queue, hosts, time: $(cat table)"

# "2" is job 2, though all runs have ids that begin so; of two starts the newer run.
printf '#!/bin/sh\necho 2.minsky1\n' > bin/qsub
run env PATH="$work/bin:$PATH" "$DDLRUN" submit --pbs --detach --cores-per-node 8 --runner none --doctor off --walltime 5m 1x1x1 -- true
directory=$(dirname "$(find ddlrun-jobs -name job.sh -newer bin/qsub)")
expect_refusal 3 'job 2.minsky1 has no run of ddlrun launch' "$DDLRUN" report 2
launch_into "$directory/run.2.minsky1"
launch_into "$directory/run.2.minsky1.1"
expect 0 "ddlrun: wrote $work/$directory/run.2.minsky1.1/report.html" "$DDLRUN" report 2
grep -q '<h3>Runs of job .*: 2, .* in all</h3>' "$directory/run.2.minsky1.1/report.html" || fail "the report has not both starts"
env PATH="$work/bin:$PATH" "$DDLRUN" status 2 > table
grep -q '2 runs, 0:0[0-9] in all' table || fail "the time of both starts: $(cat table)"
answer qsub "$recorded/pbs/01_qsub.out"
chmod +x bin/qsub

# A job of another program: its name, its log, how it ended.
answer qstat "$recorded/pbs/16_deleted_while_running.json"
chmod +x bin/*
env PATH="$work/bin:$PATH" "$DDLRUN" status 5.minsky1 > table 2> err || fail "a job of qsub: $(cat err)"
grep -q '^5.minsky1  *cancelled  *143  *[a-zA-Z]* .*  terminated by ddl@minsky1$' table || fail "a job of qsub: $(cat table)"
expect 1 'cause: the job was cancelled: terminated by ddl@minsky1' env PATH="$work/bin:$PATH" "$DDLRUN" diagnose 5.minsky1
grep -q 'sacct\|other likely' out && fail "remedies of another scheduler, or lines that are no cause: $(cat out)"
sed "s|minsky1:/[^\"]*|minsky1:$work/of_qsub.log|" "$recorded/pbs/16_deleted_while_running.json" > "$work/of_qsub.json"
echo 0 > "$work/of_qsub.json.rc"
answer qstat "$work/of_qsub.json"
chmod +x bin/*
expect 0 '' env PATH="$work/bin:$PATH" "$DDLRUN" logs 5.minsky1
grep -q "no output yet here: $work/of_qsub.log" err || fail "a log that is not there: $(cat err)"
echo 'of qsub' > of_qsub.log
expect 0 'of qsub' env PATH="$work/bin:$PATH" "$DDLRUN" logs 5.minsky1
# A launch in such a job: `last` means the job, but not for those who are inside, nor while PBS does not know it.
"$DDLRUN" launch 1 -- true > /dev/null 2>&1
expect_refusal 3 'launch kept no output of this run' "$DDLRUN" logs last
PBS_JOBID=5.minsky1 "$DDLRUN" launch 1 localhost --rank-output files -- sh -c 'echo of a rank; exit 7' > /dev/null 2>&1
expect 0 'of qsub' env PATH="$work/bin:$PATH" "$DDLRUN" logs last
grep -qx 'of a rank' out || fail "the files of the ranks are left out: $(cat out)"
expect 143 'terminated by ddl' env PATH="$work/bin:$PATH" "$DDLRUN" wait last
expect 1 'cause: the job was cancelled: terminated by ddl@minsky1' env PATH="$work/bin:$PATH" "$DDLRUN" diagnose last
expect 0 'is over already: exit status 7' env PATH="$work/bin:$PATH" "$DDLRUN" cancel last
for inside in "PBS_JOBID=5.minsky1 PATH=$work/bin:$PATH" "PATH=$PATH"; do
  # shellcheck disable=SC2086 # two variables
  expect 7 'has ended with status 7' env $inside "$DDLRUN" wait last
done
answer qstat "$recorded/pbs/08_x_all.json"
chmod +x bin/*

# A number without its server; the job that no scheduler answers for any more, beside one that is fine.
env PATH="$work/bin:$PATH" "$DDLRUN" status "${first%%.*}" > table 2> err || fail "the short id: $(cat err)"
grep -q "^$first " table || fail "the short id: $(cat table)"
printf '#!/bin/sh\necho Unknown option: x >&2\nexit 2\n' > bin/qstat
run env PATH="$work/bin:$PATH" "$DDLRUN" submit --pbs --detach --cores-per-node 8 --runner none --doctor off --walltime 5m 1x1x1 -- true
run env PATH="$work/bin:$PATH" "$DDLRUN" status
[ "$status" -eq 0 ] || fail "status $status where one of two schedulers is silent"
grep -q 'warning: pbs: .*Unknown option' err || fail "the silence is not reported: $(cat err)"
grep -q '^4711  *failed' out || fail "the other jobs are not reported: $(cat out)"
grep -q 'as last seen' out || fail "not as last seen: $(cat out)"
run env PATH="$work/bin:$PATH" "$DDLRUN" status "$first"
[ "$status" -eq 5 ] || [ "$status" -eq 0 ] || fail "status $status of a job whose scheduler is silent"
printf '#!/bin/sh\necho "$@" > %s/deleted\n' "$work" > bin/qdel
chmod +x bin/qdel
run env PATH="$work/bin:$PATH" "$DDLRUN" cancel "$first"
[ "$(cat deleted)" = "$first" ] || fail "a silent qstat keeps qdel from being tried: $(cat err)"
grep -q "job $first is being cancelled" err || fail "cancelled, but not reported: $(cat err)"
directory=$(find ddlrun-jobs -name job.sh -newer table -printf '%h\n' | tail -n 1)
echo 0 > "$directory/exit_status"
run env PATH="$work/bin:$PATH" "$DDLRUN" jobs
grep -q "^$first  *completed  *0 .*$(basename "$directory")" out || fail "its own exit status is not believed: $(cat out)"

run "$DDLRUN" submit --local --name kept --runner none --doctor off --walltime 5m 1x1x1 -- sh -c 'echo kept; exit 5'
kept=$(head -n 1 out)
# The same job again, with a change; the newest; a job whose directory is gone.
resubmit=("$DDLRUN" resubmit)
expect 0 '' "${resubmit[@]}" "$kept" --dry-run
same_lines=$(grep -v "$work" out | md5sum)
expect 0 '' "$DDLRUN" submit --job "$(find ddlrun-jobs -path '*kept-*' -name ddlrun.yaml)" --dry-run
[ "$(grep -v "$work" out | md5sum)" = "$same_lines" ] || fail "resubmit changes the job"
expect 5 '' "${resubmit[@]}" "$kept"
if grep -q 'values of this shell' err; then fail "no variable is named: $(cat err)"; fi
# Its settings are those of then, whatever DDLRUN_* says now; the values of variables are those of now.
expect 0 'ddl_sleep 300' env DDLRUN_WALLTIME=9m DDLRUN_NAME=other "${resubmit[@]}" "$kept" --dry-run
if grep -q other out; then fail "DDLRUN_NAME changes a job that is submitted again"; fi
run env TOKEN_OF=then "$DDLRUN" submit --local --runner none --doctor off --walltime 5m --environment TOKEN_OF,A=1 1x1 -- \
  sh -c 'echo "$TOKEN_OF $A $PWD"'
named=$(head -n 1 out)
mkdir elsewhere
expect 0 "now 1 $work" env -C elsewhere TOKEN_OF=now "${resubmit[@]}" "$named"
grep -qx 'ddlrun: environment: values of this shell, perhaps not those of then: TOKEN_OF' err ||
  fail "values change without a word: $(cat err)"
expect_refusal 3 'environment: TOKEN_OF is not set in this shell' "${resubmit[@]}" "$named"
expect 0 '' env TOKEN_OF=now "${resubmit[@]}" last -- sh -c 'echo changed'
grep -qx changed out || fail "another program is not taken: $(cat out)"
expect_refusal 3 'no longer exist' "${resubmit[@]}" 4799
expect_refusal 2 'which job' "${resubmit[@]}"

# What setup sets and does not export reaches the program by its name in environment, with every runner.
printf 'environment: [HEAD, UNSET, "OWN=1"]\nsetup: ["HEAD=$(echo computed)", "OTHER=x"]\n' > computed.yaml
run "$DDLRUN" submit --job computed.yaml --local --runner none --doctor off --walltime 5m 1x1 -- \
  sh -c 'echo "$HEAD $OWN ${UNSET-unset} ${OTHER-other}"'
grep -qx 'computed 1 unset other' out || fail "runner none: $(cat out err)"
printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n' > bin/srun
chmod +x bin/srun
run "$DDLRUN" submit --job computed.yaml --slurm --runner srun --cores-per-node 2 --doctor off --walltime 5m --dry-run 1x1 -- \
  sh -c 'echo "$HEAD $OWN ${UNSET-unset} ${OTHER-other}" > seen'
sed "s|^ddl_dir=.*|ddl_dir=$PWD|" out > srun.sh
SLURM_CPUS_PER_TASK=2 PATH="$work/bin:$PATH" bash srun.sh
grep -qx 'computed 1 unset other' seen || fail "runner srun: $(cat seen out)"
rm -f seen exit_status

# The output of ranks in files: logs of the job shows it, and takes the name of the run's directory.
run "$DDLRUN" submit --local --name filed --doctor off --walltime 5m --rank-output files 1x1 -- \
  sh -c 'echo of a rank; echo odd >&2'
filed=$(head -n 1 out)
run_directory=$(echo "$work"/ddlrun-jobs/filed-*/run.*)
for word in "$filed" last; do
  expect 0 "==> $run_directory/out/rank-0000.out <==" "$DDLRUN" logs "$word"
  grep -qx 'of a rank' out && grep -qx odd out && grep -q 'output of the ranks' out || fail "logs $word: $(cat out)"
  expect 0 'of a rank' "$DDLRUN" logs -f "$word"
done
expect 0 'of a rank' "$DDLRUN" logs "$(basename "$run_directory")"
expect 0 'of a rank' "$DDLRUN" logs -f "$(basename "$run_directory")"

# At most 20 rows; old jobs are forgotten, their files stay.
expect 0 'older jobs are not shown' "$DDLRUN" jobs --limit 2
[ "$(wc -l < out)" -eq 3 ] || fail "--limit 2 shows $(wc -l < out) lines"
directories=$(find ddlrun-jobs -name job.sh | wc -l)
expect_refusal 2 'not an age' "$DDLRUN" jobs --prune soon
expect 0 '0 jobs removed' "$DDLRUN" jobs --prune 90d
sleep 1.1
expect 0 'their directories stay' "$DDLRUN" jobs --prune 0m
[ "$(find ddlrun-jobs -name job.sh | wc -l)" -eq "$directories" ] || fail "--prune removed files"
expect 0 '' "$DDLRUN" jobs
grep -q "$kept" out && fail "--prune forgot nothing: $(cat out)"

# A damaged history is reported and not overwritten; submit continues.
printf 'no database' > state/ddlrun/jobs.sqlite
begin true
grep -q 'warning' err || fail "the damaged history is not reported"
[ "$(cat state/ddlrun/jobs.sqlite)" = 'no database' ] || fail "the damaged history was overwritten"
# The command that moves it away has its path as one word for the shell.
mkdir -p "st'a; x/ddlrun" && printf 'no database' > "st'a; x/ddlrun/jobs.sqlite"
XDG_STATE_HOME="$work/st'a; x" "$DDLRUN" jobs > out 2> err
moves=$(sed -n 's/^  try: \(mv .*\); the next submit.*/\1/p' err)
bash -c "$moves" || fail "the command cannot be pasted: $(cat err)"
same "what the pasted command has moved" "jobs.sqlite.damaged" "$(ls "st'a; x/ddlrun")"
# A state directory of another user could name jobs of his for resubmit.
if [ "$(id -u)" -eq 0 ]; then
  mkdir -p theirs/ddlrun && cp state/ddlrun/jobs.sqlite theirs/ddlrun && chown -R 65534 theirs
  expect_refusal 3 'the place for the history of jobs is not safe: it belongs to user 65534' \
    env XDG_STATE_HOME="$work/theirs" "$DDLRUN" resubmit last
fi
finish
