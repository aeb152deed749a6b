# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# What Slurm refuses, and jobs that end badly under it.
needs=slurm
# batch OPTIONS...: job.sh is submitted and waited for; the log holds sbatch's words, then the job's. The status is what
# sbatch --wait gives (the job's own, 1 for a signal), which looks every 2 and then every 10 seconds only.
batch() {
  rm -f "$home/job.out"
  broken sbatch --output=job.out "$@" job.sh
  if [ "$status" -eq 0 ]; then wait_job "$(sed -n 's/^Submitted batch job //p' "$log")"; fi
  [ ! -e "$home/job.out" ] || cat "$home/job.out" >> "$log"
}
wait_job() {
  local facts
  while facts=$(on "$h1" scontrol -o show job "$1") && [[ $facts =~ JobState=(PENDING|RUNNING|COMPLETING) ]]; do sleep 0.1; done
  [[ $facts =~ ExitCode=([0-9]+):([0-9]+) ]]
  status=${BASH_REMATCH[1]}
  [ "${BASH_REMATCH[2]}" -eq 0 ] || status=1
}
script() { printf '%s\n' '#!/bin/bash' "$@" | home_file job.sh; }

kind slurm_too_many_cores "X24|F10" - - "-c above what a node has"
break_slurm_too_many_cores() {
  script hostname
  batch -n 1 -c 5
}
kind slurm_too_much_memory "X24|F10" - - "--mem above what a node has"
break_slurm_too_much_memory() {
  script hostname
  batch --mem=900G
}
kind slurm_never "X30|F10" - - "sbatch --test-only of more nodes than there are"
break_slurm_never() {
  script hostname
  broken sbatch --test-only -N 99 job.sh
}
kind slurm_no_such_partition X27 - - "a partition that does not exist"
break_slurm_no_such_partition() {
  script hostname
  batch -p gpu
}
kind slurm_no_such_gpu "F10|F8" - - "a kind of GPU that no node has: for Slurm a configuration that no node has"
break_slurm_no_such_gpu() {
  script hostname
  batch --gres=gpu:h100:1
}
kind slurm_no_such_gres F8 - - "a generic resource that the cluster has not"
break_slurm_no_such_gres() {
  script hostname
  batch --gres=accelerator:1
}
kind slurm_bad_directive "F14|X26" - - "a #SBATCH line that is no option"
break_slurm_bad_directive() {
  script '#SBATCH nodes=2' hostname
  batch
}
kind slurm_unknown_option X26 - - "an option that sbatch has not, in a directive"
break_slurm_unknown_option() {
  script '#SBATCH --gpus-per-rank=2' hostname
  batch
}
kind slurm_dos_script F13 - - "a job script saved by a Windows editor"
break_slurm_dos_script() {
  printf '#!/bin/bash\r\n#SBATCH -N 1\r\nhostname\r\n' | home_file job.sh
  batch
}
kind slurm_no_shebang F13 - - "a job script without a first line"
break_slurm_no_shebang() {
  printf 'hostname\n' | home_file job.sh
  batch
}
kind slurm_bad_time X25 - - "a time limit that is none"
break_slurm_bad_time() {
  script hostname
  batch --time=4hours
}
kind slurm_gpus_twice F6 - - "GPUs requested in two ways"
break_slurm_gpus_twice() {
  script hostname
  batch -n 2 --gpus-per-task=1 --ntasks-per-gpu=2
}
kind slurm_pmi2 "C27|X21" - - "srun --mpi=pmi2 with an Open MPI that has only PMIx"
in_mpi_5 slurm_pmi2 F41
break_slurm_pmi2() { broken srun -N 2 --mpi=pmi2 bin/worker; }
kind slurm_no_such_mpi F22 - - "srun --mpi names a plug-in that is not there"
break_slurm_no_such_mpi() { broken srun -N 2 --mpi=pmix_v9 bin/worker; }
kind srun_no_program F20 "$h1" 0 "srun of a program that no host has"
break_srun_no_program() { broken srun -N 1 -w "$h1" /opt/none/bin/train; }
kind srun_no_program_on_one_host F20 "$h2" 1 "srun of a program in /tmp of the first host"
break_srun_no_program_on_one_host() {
  printf '#!/bin/sh\nsleep 1\n' | local_file "$h1" train
  broken srun -N 2 -w "$h1,$h2" /tmp/job/train
}
kind slurm_directory_missing F21 - - "the working directory is on the submitting host only"
break_slurm_directory_missing() {
  as_root "$h1" mkdir -m 777 -p /tmp/here
  undo as_root "$h1" rm -r /tmp/here
  script 'python3 train.py'
  cp -p "$home/job.sh" "$home/here.sh"
  rm -f "$home/job.out"
  broken sh -c 'cd /tmp/here && sbatch -w "$1" --output=/home/"$USER"/job.out "$HOME/here.sh"' sh "$h2"
  wait_job "$(sed -n 's/^Submitted batch job //p' "$log")"
  cat "$home/job.out" >> "$log"
}
kind srun_rank_segv "E2|-" "$h2" 1 "a segmentation fault in task 1 under srun" "Segmentation fault"
break_srun_rank_segv() { broken env SLURM_PMIX_FENCE=ring srun -N 2 -w "$h1,$h2" --mpi=pmix --kill-on-bad-exit=1 bin/worker segv 1; }
kind srun_rank_killed "E1|-" "$h2" 1 "SIGKILL to task 1 under srun" "Killed"
break_srun_rank_killed() { broken env SLURM_PMIX_FENCE=ring srun -l -N 2 -w "$h1,$h2" --mpi=pmix --kill-on-bad-exit=1 bin/worker kill 1; }
kind srun_traceback - - 1 "a Python exception in task 1 of 2, with srun -l" "label of image 1187"
break_srun_traceback() {
  printf 'import os\nif os.environ["SLURM_PROCID"] == "1":\n    raise KeyError("label of image 1187")\n' | home_file task.py
  # srun that kills task 0 sometimes drops the lines of task 1 after the first.
  broken_until "label of image 1187" srun -l -N 2 -w "$h1,$h2" --kill-on-bad-exit=1 python3 task.py
}
kind srun_too_many_tasks F1 - - "a step larger than its allocation"
break_srun_too_many_tasks() {
  script 'srun -n 99 hostname'
  batch -N 1
}
kind srun_step_refused "F2|-" - - "a step that will not wait, while another has all cores of the job" "Requested nodes are busy"
break_srun_step_refused() {
  script 'srun -n 1 -c 4 sleep 2 &' 'sleep 0.3' 'srun --immediate=1 -n 1 hostname || { wait; exit 1; }'
  batch -N 1 -n 1 -c 4
}
kind slurm_cancelled - "$h1" - "the job is cancelled" "CANCELLED AT"
break_slurm_cancelled() {
  script 'srun sleep 30'
  as_root "$h1" sh -c 'sleep 1.5; scancel --user "$1"' sh "$user" &
  undo wait "$!"
  batch -N 1 -w "$h1"
}
kind names_in_slurm_allocation B1 "$f1" - "job of Slurm, rankfile with names of the second interface"
break_names_in_slurm_allocation() {
  ranks_on "$f1" "$f2"
  script 'mpirun -n 2 --rankfile job.rf bin/worker'
  batch -N 2 -w "$h1,$h2"
}
kind host_not_in_slurm_allocation "B15|B20" - - "job of Slurm, -H names a host that is not the job's"
break_host_not_in_slurm_allocation() {
  script "mpirun -n 1 -H $h3 bin/worker"
  batch -N 1 -w "$h1"
}
kind index_beyond_allocation B7 - - "+n5 in the rankfile of a job with two hosts"
break_index_beyond_allocation() {
  rankfile "rank 0=+n0 slot=0:0" "rank 1=+n5 slot=0:0"
  script 'mpirun -n 2 --rankfile job.rf bin/worker'
  batch -N 2 -w "$h1,$h2"
}
