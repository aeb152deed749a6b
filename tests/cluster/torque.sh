#!/bin/bash
# SPDX-License-Identifier: MIT
# The scripts for PBS and Torque, handed to Slurm's imitation of Torque (package slurm-wlm-torque: sbatch reads the
# #PBS lines): what they ask is judged by slurmctld, and they run as far as that imitation goes.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
for program in slurmctld qsub qstat qdel; do
  command -v "$program" > /dev/null || { echo "skipped: no $program here; apt-get install slurmctld slurm-wlm-torque"; exit 125; }
done
lab_up 4
slurm up 68 4 > "$work/slurm" 2>&1 || { tail -n 3 "$work/slurm"; exit 1; }

ddl() { run on node1 env DDLRUN_DOCTOR=off "$tool" "$@"; }
ends() { [ "$status" -eq "$1" ] || fail "status $status, not $1: $(tail -n 4 "$work/err")"; }
field() { on node1 scontrol -o show job "$1" 2> /dev/null | tr ' ' '\n' | sed -n "s|^$2=||p" | head -n 1; }
asks() { # ID NAME VALUE...: what slurmctld understood; a job that has started has "4" nodes, one that waits "4-4"
  local id=$1 found
  shift
  for ((; $#; )); do
    found=$(field "$id" "$1")
    [[ $1 != NumNodes || $2 != "$found-$found" ]] || found=$2
    same "job $id: $1" "$2" "$found"
    shift 2
  done
}
script_of() { (cd "$lab_home" && ls -d ddlrun-jobs/"$1"-*/job.sh); }

# Torque's nodes= form, by ddlrun itself.
torque() { ddl submit --torque --cores-per-node 68 "$@"; }
torque --name tq --queue normal --walltime 10m --runner none 1x2x1 -- sh -c 'echo "in $(hostname)"; exit 7'
id=$(head -n 1 "$work/out")
asks "$id" JobName tq NumNodes 2 TimeLimit 00:10:00 Partition normal
grep -q "in node" "$work/out" || fail "the log is not followed: $(cat "$work/out")"
same "the program's exit status, which only the script's own file reports" 7 "$status"
torque --name tqgpu --walltime 10m --gpus 2 --runner none 2x2x1 --detach -- sleep 60
ends 0
id=$(head -n 1 "$work/out")
found=$(field "$id" TresPerNode)
same "job $id: TresPerNode" gres:gpu:2 "${found/gres\//gres:}" # gres/gpu:2 since Slurm 23
if on node1 qstat -f "$id" 2>&1 | grep -q "Can't locate object method"; then
  # The qstat of Debian 13 (slurm-wlm-torque 24.11) dies of a running job.
  echo "left out: status and cancel, for this qstat cannot show a running job"
  ddl status "$id"
  ends 5
  on node1 qdel "$id"
else
  ddl status "$id"
  grep -qE "$id .*(running|queued)" "$work/out" || fail "status: $(cat "$work/out")"
  ddl cancel "$id"
  ends 0
fi
wait_until 20 eval '[ "$(field "$id" JobState)" = CANCELLED ]' || fail "job $id is $(field "$id" JobState)"
torque --walltime 10m --runner none --queue nosuch 1x1x1 -- true
ends 4
grep -q "partition" "$work/err" || fail "a queue that is not there: $(cat "$work/err")"

# PBS's select= form: rendered by ddlrun, handed in by qsub itself.
pbs() { ddl submit --pbs --cores-per-node 68 --walltime 10m --runner none --dry-run "$@"; }
handed_in() { # NAME: the last rendered script, by qsub; sets $id
  ends 0
  sed -n 's|^#PBS -o \(.*\)/scheduler.log$|\1|p' "$work/out" | while read -r directory; do on node1 mkdir -p "$directory"; done
  cp "$work/out" "$lab_home/$1.sh"
  chmod 644 "$lab_home/$1.sh"
  id=$(on node1 qsub "$1.sh" 2> "$work/err") || fail "qsub $1: $(cat "$work/err")"
  id=${id%%.*}
}
pbs --name knl --threads 60 1x4x1 -- sh -c 'exit 0'
grep -q "select=4:ncpus=68:mpiprocs=1:ompthreads=60" "$work/out" || fail "$(grep PBS "$work/out")"
handed_in knl
asks "$id" NumNodes 4-4 JobName knl CPUs/Task 68 # the imitation takes ncpus / mpiprocs
wait_until 30 eval '[ "$(field "$id" JobState)" = COMPLETED ]' || fail "job $id is $(field "$id" JobState) $(field "$id" ExitCode)"
pbs --name four 4x2x1 -- sh -c 'exit 5'
handed_in four
asks "$id" NumNodes 2-2 NumTasks 8 CPUs/Task 17
wait_until 30 eval '[ "$(field "$id" JobState)" = FAILED ]' || fail "job $id is $(field "$id" JobState)"
same "slurmctld's exit code" 5:0 "$(field "$id" ExitCode)"
finish
