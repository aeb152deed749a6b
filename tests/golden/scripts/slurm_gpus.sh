#!/bin/bash
#SBATCH --job-name=resnet50
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=40
#SBATCH --gpus-per-node=v100:4
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --partition=gpu
#SBATCH --account=lab42
#SBATCH --mail-user=me@example.org
#SBATCH --mail-type=END,FAIL
#SBATCH --output=/scratch/me/.ddlrun/jobs/0001/output.log
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
# Written by ddlrun submit; the next line ends the scheduler's directives.
# Words of the job are quoted as they are; functions here are called by traps, and one replaces trap.
# shellcheck disable=SC2016,SC2218,SC2317,SC2329
set -u

# Names of this script begin with ddl_.
ddl_dir=/scratch/me/.ddlrun/jobs/0001
ddl_id=${SLURM_JOB_ID:-$$}
ddl_restarts=${SLURM_RESTART_COUNT:-0}
case $ddl_restarts in '' | *[!0-9]*) ddl_restarts=0 ;; esac
ddl_status_file=$ddl_dir/exit_status
ddl_stop_file=$ddl_dir/stop_reason
export DDLRUN_JOB_ID=$ddl_id
export DDLRUN_RESTART_COUNT=$ddl_restarts
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

# Traps in the lines below run too: for EXIT after the exit status is written, for USR1 and TERM when the program is over.
# shellcheck disable=SC2064 # names of now
trap() {
  builtin trap "$@" || return
  if [ "$BASHPID" != "$$" ]; then return; fi
  local name words
  for name in EXIT USR1 TERM; do
    eval "words=($(builtin trap -p "$name"))"  # trap -- COMMAND NAME, quoted by bash
    if [ "${words[2]-}" = "ddl_on_$name" ]; then continue; fi
    printf -v "ddl_setup_$name" %s "${words[2]-}"
    builtin trap "ddl_on_$name" "$name"
  done
}

set +u

# Modules. A batch shell may not have read the file that defines the command.
if ! type module >/dev/null 2>&1; then
  for ddl_file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh \
    /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    # shellcheck source=/dev/null
    if [ -r "$ddl_file" ]; then . "$ddl_file" && break; fi
  done
fi
type module >/dev/null 2>&1 ||
  ddl_fail 'there is no module command on this host' 'the job without modules, or another --queue'
module purge
module load cuda/11.4 openmpi/4.1.4 ||
  ddl_fail 'a module could not be loaded, of cuda/11.4 openmpi/4.1.4' 'module avail   # names the ones that are there'

# The conda environment. A batch shell has conda, if at all, without its shell function.
command -v conda >/dev/null ||
  ddl_fail 'there is no conda on this host' 'modules: [the one that brings conda]; module avail'
eval "$(conda shell.bash hook)"
conda activate torch ||
  ddl_fail 'the conda environment torch could not be activated' 'conda env list   # names those that are there'

# Variables of the job.
export NCCL_DEBUG=INFO

set +e -u

# ddlrun must be here too.
ddl_binary=ddlrun
command -v -- "$ddl_binary" >/dev/null ||
  ddl_fail "$ddl_binary is not on this host, or may not be run" 'ddlrun: /its/path/on/the/hosts'
ddl_run_dir=$ddl_dir/run.$ddl_id
if [ "$ddl_restarts" -gt 0 ]; then ddl_run_dir=$ddl_run_dir.requeue$ddl_restarts; fi

# The data, as the program finds it.
export DDLRUN_DATA=/local/imagenet
ddl_source=/scratch/me/imagenet
srun --nodes=4 --ntasks=4 --ntasks-per-node=1 -- bash -c 'trusted() ( set -f; me=$(id -u); rest=$1; at=; shared=; links=0; while [ -n "$rest" ]; do rest=${rest#/}; name=${rest%%/*}; case $rest in */*) rest=/${rest#*/} ;; *) rest= ;; esac; case $name in ""|.) continue ;; ..) at=${at%/*}; continue ;; esac; set -- $(ls -ldn -- "$at/$name"); [ $# -gt 3 ] || return 1; [ -z "$shared" ] || [ "$3" = 0 ] || [ "$3" = "$me" ] || return 1; case $1 in l*) link=$(readlink -- "$at/$name"); links=$((links + 1)); [ $links -le 40 ] || return 1; case $link in /*) at=; shared= ;; esac; rest=/$link$rest; continue ;; d???????w[tT]*) shared=y ;; ????????w*) return 1 ;; esac; at=$at/$name; done; ); fail() { echo "$(uname -n): $1" | LC_ALL=C tr "\000-\011\013-\037\177" "?" >&2; exit 1; }; bad="another user can exchange $2 or a directory above it, see namei -l; a directory of your own is needed"; from=$1 to=$2; [[ $from = /* ]] || from=$PWD/$from; [[ $to = /* ]] || to=$PWD/$to; up=$to; while [ ! -e "$up" ] && [ ! -L "$up" ]; do up=${up%/*}; up=${up:-/}; done; trusted "$up" || fail "$bad"; (umask 077 && mkdir -p -- "$to") && cd -P -- "$to" || exit; { trusted "$to" && trusted "$(pwd -P)" && [ "$to" -ef . ]; } || fail "$bad"; case $(stat -c "%u %A" .) in "0 "????????[!w]?|"$(id -u) "????????[!w]?) ;; *) fail "$bad" ;; esac; mark=.ddlrun-data; if [ -e "$mark" ]; then was=$(cat -- "$mark"); [ "$was" = "$1" ] || fail "$2 holds a copy of $was, not of $1"; elif [ -n "$(ls -A)" ]; then fail "$2 holds files that no job of ddlrun put there"; fi; echo "$1" >"$mark" || exit; if command -v rsync >/dev/null; then rsync -rlt --delete --exclude=/.ddlrun-data -- "$from/" ./; else find . -mindepth 1 ! -path ./.ddlrun-data -delete && cp -R -- "$from/." .; fi' copy "$ddl_source" "$DDLRUN_DATA" ||
  ddl_fail "the data could not be copied to $DDLRUN_DATA on every host" "ls -la $(printf %q "$DDLRUN_DATA"); df $(printf %q "$DDLRUN_DATA")   # on that host; or another directory under to:"

# The program, word by word.
ddl_program=(python train.py --name 'it'\''s "4x4"')

# What reaches the ranks, by name.
ddl_exports=(-x DDLRUN_RESTART_COUNT -x DDLRUN_DATA)
ddl_passed=(NCCL_DEBUG WANDB_MODE)
for ddl_name in "${ddl_passed[@]}"; do
  if [ -n "${!ddl_name+set}" ]; then
    export "${ddl_name?}"
    ddl_exports+=(-x "$ddl_name")
  fi
done

# What would break on these hosts ends the job before anything is started.
"$ddl_binary" doctor --quick --dims 4x2x2 --gpus 4 --exclusive "${ddl_exports[@]}" -- "${ddl_program[@]}" >&2 || {
  ddl_status=$?
  ddl_fail "doctor's status is $ddl_status: nothing is started" \
    'the remedies above; --doctor warn goes on where the job can run nevertheless' "$ddl_status"
}

# Each host's real topology is read, the ranks are planned, started and compared with the plan.
ddl_command=("$ddl_binary" launch 4x2x2 --threads 5 --run-dir "$ddl_run_dir"
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

# Start again if the program exits with 75, or got the early signal and did not finish.
ddl_wanted=no
if [ "$ddl_status" -eq 75 ]; then ddl_wanted=yes; fi
if [ "$ddl_early" = yes ] && [ "$ddl_status" -ne 0 ]; then ddl_wanted=yes; fi
if [ "$ddl_ended" = yes ]; then ddl_wanted=no; fi
if [ "$ddl_wanted" = yes ] && [ "$ddl_restarts" -ge 3 ]; then
  ddl_say "status $ddl_status after $ddl_restarts restarts, of 3 at most"
elif [ "$ddl_wanted" = yes ]; then
  ddl_say "status $ddl_status: the job starts again, restart $((ddl_restarts + 1))"
  ddl_say "Slurm keeps a requeued job back, by default for two minutes; ddlrun status $ddl_id names the time"
  if ddl_answer=$(scontrol requeue "$ddl_id" 2>&1); then
    ddl_again=yes
  else
    case $ddl_answer in
      *'is pending execution'*)  # of a job that another `scontrol requeue` has put back
        ddl_again=yes
        ddl_say 'the job is requeued already, by another scontrol requeue'
        ;;
      *) ddl_say "scontrol requeue refused: $ddl_answer" ;;
    esac
  fi
fi

exit "$ddl_status"
