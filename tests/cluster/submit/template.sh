# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit.sh: a job script of the user, and a working directory with a blank.

scenario_own_template() {
  cat > "$lab_home/mine.sh" << 'TEMPLATE'
#!/bin/bash
#SBATCH --job-name={{name|sbatch}} --nodes={{nodes|int}} --ntasks-per-node={{ranks_per_node|int}}
#SBATCH --time={{walltime|sbatch}} --output={{output|sbatch}} --open-mode=append
end() { echo $? >{{exit_status_file|sh}}; }; trap end EXIT
echo "on $SLURM_JOB_NUM_NODES nodes"
srun --mpi=none {{program|sh}}
TEMPLATE
  run on node1 "$tool" submit --slurm --template mine.sh --name templated --walltime 3m 1x2x1 -- \
    sh -c 'echo "rank $SLURM_PROCID it'"'"'s"; exit $((SLURM_PROCID * 6))'
  id=$(head -n 1 "$work/out")
  ends 6
  prints "on 2 nodes"
  prints "rank 1 it's"
  says "failed with exit status 6"
  same "slurmctld says" "00:03:00 2 6:0 templated" \
    "$(field "$id" TimeLimit) $(field "$id" NumNodes) $(field "$id" ExitCode) $(field "$id" JobName)"
  same "its own file" 6 "$(cat "$lab_home"/ddlrun-jobs/templated-*/exit_status)"
  ddl logs "$id"
  prints "on 2 nodes"
  run on node1 "$tool" submit --slurm --template mine.sh --walltime 3m --queue short 1x2x1 -- true
  ends 2
  says "#SBATCH --partition={{queue|sbatch}}"
}
scenario_directory_with_a_blank() {
  run on node1 bash -c 'mkdir "two words" && cd two* && exec "$@"' bash env "${small[@]}" "$tool" submit --slurm --name blank 1x1x1 -- pwd
  ends 0
  prints "/home/ddl/two words"
}
# Rank 1 fails, srun ends rank 0 and answers 143 for the job: ddlrun reports rank 1 and its status.
scenario_first_failing_rank() {
  submit --runner srun --srun-mpi none --threads 1 1x2x1 -- sh -c '[ $SLURM_PROCID = 0 ] && exec sleep 30; sleep 1; exit 5'
  ends 5
  says "failed with exit status 5: rank 1"
  ! grep -q "the job was cancelled" "$work/err" || fail "srun's own ending is taken for scancel: $(cat "$work/err")"
  ! grep -q "stopped from outside" "$work/err" || fail "the killed rank is taken for the cause: $(tail -n 3 "$work/err")"
}
# A template for another scheduler requests nothing here.
scenario_template_of_pbs() {
  printf '#!/bin/bash\n#PBS -l select={{nodes|int}}\n#PBS -l walltime={{walltime|pbs}}\n{{program|sh}}\n' > "$lab_home/pbs.sh"
  run on node1 "$tool" submit --slurm --template pbs.sh --walltime 3m 1x2x1 -- true
  ends 2
  says "has #PBS lines only"
}
# Slurm starts a job at once whose dependency it has forgotten; a task's log has the task in its name.
scenario_forgotten_dependency() {
  submit --dependencies afterok:99999 1x1x1 -- true
  ends 3
  says "neither Slurm nor ddlrun's history has that job"
  submit 1x1x1 -- sh -c 'exit 3'
  ends 3
  local failed
  failed=$(head -n 1 "$work/out")
  submit --dependencies "afterok:$failed" 1x1x1 -- true
  ends 3
  says "is over and failed (3)"
  submit --array 0-1 --output one.txt 1x1x1 -- true
  ends 2
  says "try: --output one.%a.txt"
}
