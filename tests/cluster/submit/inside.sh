# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit.sh: what the ranks find, by their own word.

scenario_ranks_and_cores() {
  small=()
  submit --walltime 5m --doctor warn --name ranks --exclusive no --cores-per-node 2 --threads 1 2x2x1 -- \
    sh -c 'echo "rank $OMPI_COMM_WORLD_RANK $(hostname -s) of $OMPI_COMM_WORLD_SIZE"'
  ends 0
  same "ranks" "rank 0 of 4 rank 1 of 4 rank 2 of 4 rank 3 of 4" \
    "$(grep '^rank' "$work/out" | sort | awk '{ print $1, $2, $4, $5 }' | xargs)"
  same "hosts with two ranks each" "2 2" "$(grep '^rank' "$work/out" | awk '{ print $3 }' | sort | uniq -c | awk '{ print $1 }' | xargs)"
  same "slurmctld gave" 4 "$(field "$id" NumCPUs)"
}
# launch and doctor in the job get the options of the submission; the stall ends the job.
scenario_options_inside() {
  small=()
  submit --walltime 5m --exclusive no --cores-per-node 2 --threads 1 --name options --doctor stop --doctor-skip NET,CPU \
    --doctor-warn LIM,SW --verify yes --rank-output prefix --stall-timeout 3 --on-stall end 2x2x1 -- \
    sh -c 'echo here; sleep 300'
  ends 124
  same "prefixed lines" "[0] here [1] here [2] here [3] here" "$(grep 'here$' "$work/out" | sort | xargs)"
  prints "4 of 4 ranks are where they were planned"
}
scenario_srun_cores() {
  submit --runner srun --name spread --cores-per-node 8 --threads 4 2x2x1 -- \
    sh -c 'echo "rank $SLURM_PROCID $(hostname -s) $SLURM_CPUS_PER_TASK"'
  ends 0
  same "cores per rank" "4 4 4 4" "$(grep '^rank' "$work/out" | awk '{ print $4 }' | xargs)"
  same "ranks per host" "2 2" "$(grep '^rank' "$work/out" | awk '{ print $3 }' | sort | uniq -c | awk '{ print $1 }' | xargs)"
}
# More ranks than CPUs: a job of as many tasks waits forever, on Slurm 24.11 with --overcommit too.
scenario_ranks_share_cores() {
  small=()
  submit --walltime 5m --doctor off --name shared --oversubscribe 70x1x1 -- sh -c 'echo "rank $DDLRUN_RANK"'
  ends 0
  says "oversubscribe: 70 ranks share 68 CPUs of a node, by sinfo"
  same "ranks" 70 "$(grep '^rank' "$work/out" | sort -u | wc -l)"
  submit --walltime 5m --doctor off --name shared --exclusive no --threads 1 --oversubscribe 70x1x1 -- sh -c 'echo "rank $DDLRUN_RANK"'
  ends 0
  same "ranks of a shared node" 70 "$(grep '^rank' "$work/out" | sort -u | wc -l)"
  same "slurmctld gave" 68 "$(field "$id" NumCPUs)"
  # Of a job of the user's own, by srun.
  on node1 sbatch --wait --time 5 --nodes 1 --ntasks-per-node 1 --cpus-per-task 68 --output shared_by_srun --wrap \
    "$tool launch 70x1 --launcher srun --oversubscribe --no-verify -- sh -c 'echo rank \$SLURM_PROCID'" > "$work/sbatch" 2>&1 ||
    fail "by srun: $(cat "$work/sbatch"; tail -n 5 "$lab_home/shared_by_srun")"
  same "ranks by srun" 70 "$(grep '^rank' "$lab_home/shared_by_srun" | sort -u | wc -l)"
}
scenario_gpus_of_the_job() {
  submit --gpus 2 --name gpus 1x1x1 -- sh -c 'echo "sees $CUDA_VISIBLE_DEVICES"'
  ends 0
  same "two GPUs" 2 "$(sed -n 's/^sees //p' "$work/out" | tr ',' '\n' | grep -c .)"
  same "slurmctld gave" 1 "$(field "$id" TresPerNode | grep -c 'gpu:2\|gpu:p100:2')"
}
# Each rank sees all of the job's GPUs on its host: peers that were hidden could not be copied to.
scenario_gpus_of_ranks() {
  submit --runner srun --threads 1 --gpus 4 --name peers 4x1x1 -- sh -c 'echo "rank $SLURM_LOCALID sees $CUDA_VISIBLE_DEVICES"'
  ends 0
  same "each rank" "0 0,1,2,3 1 0,1,2,3 2 0,1,2,3 3 0,1,2,3" \
    "$(grep '^rank' "$work/out" | sort | awk '{ print $2, $4 }' | xargs)"
}
# The limit is judged where it counts: in the job. Slurm hands on the limit of the shell that submits.
scenario_memlock_inside() {
  run on node1 env DDLRUN_WALLTIME=5m DDLRUN_EXCLUSIVE=no prlimit --memlock=65536:65536 \
    "$tool" submit --slurm --doctor warn --runner none --name locked 1x1x1 -- sh -c 'ulimit -l'
  ends 0
  prints 64
  grep -q 'LIM-01' "$work/out" || fail "doctor's quick level does not tell of memlock: $(head -n 20 "$work/out")"
}
# A broken host ends the job before the program starts.
scenario_doctor_stops() {
  run on node1 env DDLRUN_WALLTIME=5m DDLRUN_EXCLUSIVE=no "$tool" submit --slurm --doctor stop --runner none \
    --name broken 1x1x1 -- /opt/no-such-program
  [ "$status" -ne 0 ] || fail "it ended well"
  grep -q 'nothing is started' "$work/out" || fail "doctor did not stop it: $(tail -n 12 "$work/out")"
}
scenario_names_do_nothing() {
  # shellcheck disable=SC2016
  local odd='a b '\''c'\'' "d" $(touch PWNED) `touch PWNED` ; touch PWNED # \ é'
  # shellcheck disable=SC2016
  run on node1 bash -c 'mkdir "odd; touch PWNED" && cd odd* && exec "$@"' bash env "${small[@]}" "$tool" submit --slurm 1x1x1 -- true
  ends 0 # the job's files are elsewhere, since such a path is nothing for a directive
  submit --name odd 1x1x1 -- printf '<%s>\n' "$odd" '-n' '*' ''
  ends 0
  same "words arrive as they are" "<$odd>|<-n>|<*>|<>|" "$(tail -n +2 "$work/out" | tr '\n' '|')"
  [ -z "$(find "$lab_home" -name PWNED)" ] || fail "something was executed"
  submit --name 'x $(touch PWNED)' 1x1x1 -- true
  ends 2
}
scenario_named_hosts() {
  submit --runner srun --threads 1 1x2x1 node2,node4 -- hostname -s
  ends 0
  same "where it ran" "node2 node4" "$(grep '^node' "$work/out" | sort | xargs)"
}
scenario_environment() {
  small+=(SECRET=hidden WANTED=seen)
  submit --environment WANTED --environment OWN=value --name env 1x1x1 -- sh -c 'echo "wanted=$WANTED own=$OWN"'
  ends 0
  prints "wanted=seen own=value"
}
scenario_settings_kept() {
  begin --name kept 1x1x1 -- sh -c 'echo again'
  ddl wait "$id"
  on node1 bash -c 'cp ddlrun-jobs/kept-*/ddlrun.yaml kept.yaml'
  run on node1 "$tool" submit --job kept.yaml
  ends 0
  prints again
}
