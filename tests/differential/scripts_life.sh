#!/bin/bash
# SPDX-License-Identifier: MIT
# scripts_life.sh SCRIPTS: rendered scripts run by bash with stand-ins for scontrol and qsub: signals, restarts,
# statuses; and the texts of a few against golden/scripts (GOLDEN_UPDATE=1 writes them anew).
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=../support/check.sh
. "$here/../support/check.sh"
scripts=$1
golden=$here/../golden/scripts

for name in slurm_gpus slurm_array pbs_knl pbs_hosts torque_array local_venv; do
  "$scripts" known "$name" /scratch/me/.ddlrun/jobs/0001 >"$work/$name.sh"
  [ -z "${GOLDEN_UPDATE:-}" ] || cp "$work/$name.sh" "$golden/$name.sh"
  diff "$golden/$name.sh" "$work/$name.sh" || fail "$name is not as it was"
  shellcheck -S style "$work/$name.sh" || [ $? -eq 127 ] || fail "shellcheck: $name"
done

mkdir "$work/bin"
# stand-ins that write down how they were called
for tool in scontrol qsub; do
  printf '#!/bin/bash\necho "%s $*" >>"$CALLS"\necho 77.server\necho "${SAYS-}" >&2\nexit "${REFUSE:-0}"\n' "$tool" >"$work/bin/$tool"
  chmod +x "$work/bin/$tool"
done
PATH=$work/bin:$PATH
export CALLS=$work/calls

# begin NAME: the job's script in its own directory, $directory
begin() {
  directory=$work/$1
  mkdir "$directory"
  "$scripts" known "life_$1" "$directory" >"$directory/job.sh"
  : >"$CALLS"
}
# until_up: the program has set its traps
until_up() {
  for _ in $(seq 100); do
    if grep -qs up "$directory/log"; then return; fi
    sleep 0.05
  done
  fail "$1 did not start"
}
# terminated NAME: runs the job's script, and ends it with TERM when its program is up
terminated() {
  begin "$1"
  bash "$directory/job.sh" 2>/dev/null & job=$!
  until_up "$1"
  kill -TERM "$job"
  wait "$job"
  status=$?
}
# ends NAME STATUS WRITTEN: the status, and that in the file ('' for none)
ends() {
  [ "$status" -eq "$2" ] || fail "$1: status $status, not $2: $(head -5 "$work/err")"
  [ "$(cat "$directory/exit_status" 2>/dev/null)" = "$3" ] || fail "$1: exit_status is not '$3'"
}
called() { [ "$(cat "$CALLS")" = "$2" ] || fail "$1: called '$(cat "$CALLS")', not '$2'"; }

# No scheduler: the early signal after 1 s, status 75, started again, three times in all.
begin resumes
run bash "$directory/job.sh"
ends resumes 75 75
[ "$(grep -c saved "$directory/log")" -eq 3 ] || fail "resumes: $(tr '\n' ' ' <"$directory/log")"

# The early signal reaches the program as the one that it wants, also where shells ignore it in the background.
begin interrupted
set -m # else the job's shell would find INT ignored
bash "$directory/job.sh" & job=$!
set +m
until_up interrupted
kill -USR1 "$job"
wait "$job"
status=$?
ends interrupted 7 7
grep -q caught "$directory/log" || fail "interrupted: not reported"

# TERM is passed on, and is no reason to start again.
terminated ended
ends ended 9 9
called ended ""

# Several signals while the program goes on: its own status counts.
begin stubborn
bash "$directory/job.sh" & job=$!
until_up stubborn
for _ in 1 2 3 4; do kill -USR1 "$job"; sleep 0.1; done
wait "$job"
status=$?
ends stubborn 5 5

# 75 under Slurm: requeued, no status yet; refused or once too often: the status.
begin again
SLURM_JOB_ID=15 run bash "$directory/job.sh"
ends again 75 ""
called again "scontrol requeue 15"
SLURM_JOB_ID=15 SLURM_RESTART_COUNT=2 run bash "$directory/job.sh"
ends again-too-often 75 75
SLURM_JOB_ID=15 REFUSE=1 SAYS='no such job' run bash "$directory/job.sh"
ends again-refused 75 75
grep -q 'no such job' "$work/err" || fail "again-refused: $(cat "$work/err")"
# The words of Slurm 22.05 and 24.11 on a job that was put back before.
SLURM_JOB_ID=15 REFUSE=1 SAYS='Job is pending execution for job 15' run bash "$directory/job.sh"
ends again-by-another 75 ""
grep -q 'requeued already' "$work/err" || fail "again-by-another: $(cat "$work/err")"

# PBS: handed in again behind itself, with its count and its variables.
begin pbs_again
PBS_JOBID=12.server DATA=x,y DDLRUN_RESTARTS=1 run bash "$directory/job.sh"
ends pbs_again 75 ""
called pbs_again "qsub -W depend=afterany:12.server -v DDLRUN_RESTARTS=2,DATA $directory/job.sh"
[ "$(cat "$directory/next_job")" = 77.server ] || fail "pbs_again: next_job"
grep -q 'starts again' "$directory/output.log" || fail "pbs_again: the log does not grow"
PBS_JOBID=12.server DDLRUN_RESTARTS=2 run bash "$directory/job.sh"
ends pbs_again-too-often 75 75
: >"$CALLS"
PBS_JOBID=12.server REFUSE=1 run bash "$directory/job.sh"
ends pbs_again-refused 75 75
called pbs_again-refused "qsub -W depend=afterany:12.server -v DDLRUN_RESTARTS=1 $directory/job.sh"

# A trap for EXIT in the job's own lines runs too, once for each start; the status is written nevertheless, also where
# one of these lines ends the job.
for kind in local slurm pbs; do
  begin "trap_$kind"
  run bash "$directory/job.sh"
  same "trap_$kind: written" 6 "$(cat "$directory/exit_status")"
  same "trap_$kind: its own" $'inner\ncleared 6' "$(cat "$directory/left")"
  rm "$directory/left"
  : >"$directory/missing"
  run bash "$directory/job.sh"
  same "trap_$kind: written by setup" 1 "$(cat "$directory/exit_status")"
  same "trap_$kind: its own, in setup" $'inner\ncleared 1' "$(cat "$directory/left")"
done
# TERM still reaches the program, and the trap of the job's own lines runs when the program is over.
terminated trap_term
ends trap_term 9 9
same "trap_term: its own, last" $'up\nended\ncleared\ncleared' "$(cat "$directory/log")"
begin trap_again
run bash "$directory/job.sh"
same "trap_again: written" 75 "$(cat "$directory/exit_status")"
same "trap_again: its own" $'inner\ncleared 75\ninner\ncleared 75' "$(cat "$directory/left")"

begin limit
run bash "$directory/job.sh"
ends limit 143 143
begin task
SLURM_ARRAY_TASK_ID=4 run bash "$directory/job.sh"
ends task 3 ""
[ "$(cat "$work/out" "$directory/exit_status.4")" = $'4\n3' ] || fail "task: $(cat "$work/out")"
grep -qxF 'ddl_stop_file=$ddl_dir/stop_reason.$ddl_index' "$directory/job.sh" || fail "task: another name of the reason"
# What stops a script stands in a file too, of its last start only; where it cannot be written, it is printed.
begin nowhere
run bash "$directory/job.sh"
ends nowhere 3 3
grep -q "^ddlrun job: the working directory $directory/nowhere cannot be entered" "$work/err" || fail "nowhere: $(cat "$work/err")"
same "nowhere: the reason" "$(grep -A1 '^ddlrun job: ' "$work/err")" "$(cat "$directory/stop_reason")"
mkdir "$directory/nowhere"
run bash "$directory/job.sh"
ends nowhere-made 0 0
[ ! -e "$directory/stop_reason" ] || fail "nowhere: the reason of an earlier start is left"
rmdir "$directory/nowhere"
mkdir "$directory/stop_reason.part"
run bash "$directory/job.sh"
ends nowhere-unwritten 3 3
same "nowhere: printed" 'ddlrun job: ;  try: ' "$(grep -A1 -o '^ddlrun job: \|^  try: ' "$work/err" | paste -sd';')"
grep -q stop_reason "$work/err" && fail "nowhere: $(cat "$work/err")"
begin no_ddlrun
run bash "$directory/job.sh"
ends no_ddlrun 3 3
begin sick
printf '#!/bin/bash\n[ "$1" = doctor ] && exit 1\n' >"$directory/ddlrun"
chmod +x "$directory/ddlrun"
run bash "$directory/job.sh"
ends sick 1 1
[ ! -s "$work/out" ] || fail "sick: was started"
same "sick: the reason" "ddlrun job: doctor's status is 1: nothing is started" "$(head -1 "$directory/stop_reason")"
begin warned
cp "$work/sick/ddlrun" "$directory/ddlrun"
run bash "$directory/job.sh"
ends warned 0 0
grep -q started "$work/out" || fail "warned: was not started"
begin copied
mkdir -p "$directory/from here/part"
echo data >"$directory/from here/part/x"
run bash "$directory/job.sh"
ends copied 0 0
grep -q data "$work/out" || fail "copied: no data"
# What is gone at the source is gone in the copy; files of other users are left alone, and the log has the reason.
mv "$directory/from here/part/x" "$directory/from here/part/y"
run bash "$directory/job.sh"
[ "$(ls "$directory/to \$there/part")" = y ] || fail "copied: stale files: $(ls "$directory/to \$there/part")"
rm "$directory/to \$there/.ddlrun-data"
run bash "$directory/job.sh"
ends copied-over-others 3 3
grep -q 'no job of ddlrun put there' "$work/err" || fail "copied over others' files: $(cat "$work/err")"
[ -e "$directory/to \$there/part/y" ] || fail "copied: others' files are gone"
# Nothing is written where another user can exchange a step of the path: a directory with mode 777, or that user's link.
echo "$directory/from here" >"$directory/to \$there/.ddlrun-data"
touch "$directory/to \$there/stale"
refused() {
  ends "$1" 3 3
  grep -q 'another user can exchange .*to \$there' "$work/err" || fail "$1: $(cat "$work/err")"
  [ -e "$directory/to \$there/stale" ] || fail "$1: a file is gone"
}
chmod 777 "$directory"
run bash "$directory/job.sh"
refused copied-below-777
if [ "$(id -u)" -eq 0 ]; then
  chmod 1777 "$directory"
  mv "$directory/to \$there" "$directory/home"
  ln -s home "$directory/to \$there"
  chown -h 65534 "$directory/to \$there"
  run bash "$directory/job.sh"
  refused copied-through-a-link
  chown -h 0 "$directory/to \$there"
fi
chmod 755 "$directory"
mv "$directory/from here/part/y" "$directory/from here/part/x"
run bash "$directory/job.sh"
ends copied-again 0 0
[ ! -e "$directory/to \$there/stale" ] || fail "copied: a stale file is left"
[ -z "$(jobs -p)" ] || fail "processes are left"
finish
