#!/bin/bash
#PBS -N ddlrun
#PBS -l nodes=2:ppn=8:gpus=4
#PBS -t 0,2,4,6,8%2
#PBS -j oe
#PBS -o /scratch/me/.ddlrun/jobs/0001/scheduler.log
#PBS -r y
# Written by ddlrun submit; the next line ends the scheduler's directives.
# Words of the job are quoted as they are; functions here are called by traps, and one replaces trap.
# shellcheck disable=SC2016,SC2218,SC2317,SC2329
set -u

# Names of this script begin with ddl_.
ddl_dir=/scratch/me/.ddlrun/jobs/0001
ddl_id=${PBS_JOBID:-${SLURM_JOB_ID:-$$}}
ddl_index=${PBS_ARRAYID:-${SLURM_ARRAY_TASK_ID:-}}
ddl_restarts=${DDLRUN_RESTARTS:-0}
case $ddl_restarts in '' | *[!0-9]*) ddl_restarts=0 ;; esac
ddl_status_file=$ddl_dir/exit_status.$ddl_index
ddl_stop_file=$ddl_dir/stop_reason.$ddl_index
export DDLRUN_JOB_ID=$ddl_id
export DDLRUN_RESTART_COUNT=$ddl_restarts
export DDLRUN_ARRAY_INDEX=$ddl_index
ddl_say() { printf 'ddlrun job: %s\n' "$1" >&2; }
# ddl_fail REASON REMEDY [STATUS]: ends the job. The program writes to the log too, so ddlrun reads both in the file.
ddl_fail() {
  local text
  printf -v text 'ddlrun job: %s\n  try: %s' "$1" "$2"
  printf '%s\n' "$text" >&2
  {
    printf '%s\n' "$text" >"$ddl_stop_file.part" && mv -f -- "$ddl_stop_file.part" "$ddl_stop_file"
  } 2>/dev/null || :
  exit "${3:-3}"
}
# Handed in by hand, the job has no directory yet.
(umask 077 && mkdir -p -- "$ddl_dir") ||
  ddl_fail "$ddl_dir cannot be made on this host" "ls -ld $(printf %q "${ddl_dir%/*}")   # on this host"

# However this ends, its status is written down, unless the job starts again.
rm -f -- "$ddl_status_file" "$ddl_stop_file"
ddl_again=no
ddl_alarm=
unset -v ddl_setup_EXIT ddl_setup_USR1 ddl_setup_TERM
ddl_on_EXIT() {
  local status=$?
  set +e
  if [ "$BASHPID" != "$$" ]; then return; fi  # a subshell that ends early has it too
  builtin trap '' USR1 TERM
  if [ -n "$ddl_alarm" ]; then kill "$ddl_alarm" 2>/dev/null; fi
  if [ "$ddl_again" != yes ]; then
    printf '%s\n' "$status" >"$ddl_status_file.part" && mv -f -- "$ddl_status_file.part" "$ddl_status_file"
  fi
  ddl_run_setup EXIT "$status"
}
# ddl_run_setup NAME STATUS: once, what the lines of the job or the site trapped NAME with; $? there is STATUS.
ddl_run_setup() {
  local name=ddl_setup_$1
  local words=${!name-}
  printf -v "$name" %s ''
  set +u
  (exit "$2")
  eval "$words"
  set -u
}
trap ddl_on_EXIT EXIT

# The log grows while the job runs; the scheduler would show it only at the end.
ddl_log=$ddl_dir/output.$ddl_index.log
exec >>"$ddl_log" 2>&1

# Signals are passed on to the program. USR1 comes ahead of the time limit, TERM at the end.
ddl_child=
ddl_early=no
ddl_ended=no
ddl_signals=0
ddl_missed=
ddl_pass_on() {
  ddl_signals=$((ddl_signals + 1))
  if [ -n "$ddl_child" ]; then kill -s "$1" "$ddl_child" 2>/dev/null; else ddl_missed+=" $1"; fi
}
ddl_on_USR1() {
  ddl_early=yes
  ddl_pass_on USR1
}
ddl_on_TERM() {
  ddl_ended=yes
  ddl_pass_on TERM
}
trap ddl_on_USR1 USR1
trap ddl_on_TERM TERM

# Relative paths of the job begin here.
cd -- /scratch/me/run || ddl_fail 'the working directory /scratch/me/run cannot be entered on this host' "ls -ld $(printf %q /scratch/me/run)   # on this host"

# ddlrun must be here too.
ddl_binary=ddlrun
command -v -- "$ddl_binary" >/dev/null ||
  ddl_fail "$ddl_binary is not on this host, or may not be run" 'ddlrun: /its/path/on/the/hosts'
ddl_run_dir=$ddl_dir/run.$ddl_id

# The program, word by word.
ddl_program=(./train)

# What reaches the ranks, by name.
ddl_exports=(-x DDLRUN_RESTART_COUNT -x DDLRUN_ARRAY_INDEX)

# What would break on these hosts ends the job before anything is started.
"$ddl_binary" doctor --quick --dims 4x2x1 --gpus 4 --exclusive "${ddl_exports[@]}" -- "${ddl_program[@]}" >&2 || {
  ddl_status=$?
  ddl_fail "doctor's status is $ddl_status: nothing is started" \
    'the remedies above; --doctor warn goes on where the job can run nevertheless' "$ddl_status"
}

# Each host's real topology is read, the ranks are planned, started and compared with the plan.
ddl_command=("$ddl_binary" launch 4x2x1 --threads 2 --run-dir "$ddl_run_dir"
  "${ddl_exports[@]}" -- "${ddl_program[@]}")

# Start and wait. A signal interrupts wait, so it is asked again until no signal came meanwhile.
ddl_status=143
if [ "$ddl_early$ddl_ended" = nono ]; then
  (
    trap - INT QUIT USR1 TERM EXIT
    exec -- "${ddl_command[@]}"
  ) &
  ddl_child=$!
  # what came between the question above and this line
  for ddl_name in $ddl_missed; do kill -s "$ddl_name" "$ddl_child" 2>/dev/null; done
  while :; do
    ddl_seen=$ddl_signals
    wait "$ddl_child" 2>/dev/null
    ddl_status=$?
    if [ "$ddl_seen" -eq "$ddl_signals" ]; then break; fi
  done
  # bash 5.2 can lose the status of a child that ends in the instant of a signal, and then says -1 or 127
  case $ddl_ended$ddl_status in yes-1 | yes127) ddl_status=143 ;; esac
  ddl_child=
fi
if [ "$ddl_early" = yes ]; then ddl_run_setup USR1 "$ddl_status"; fi
if [ "$ddl_ended" = yes ]; then ddl_run_setup TERM "$ddl_status"; fi

exit "$ddl_status"
