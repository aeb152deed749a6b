# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit_pbs.sh: what the ranks find, by their own word.

# cores_per_node comes from pbsnodes, whose nodes of queue cores have as many as this machine; the plan in the job uses all.
scenario_ranks_and_cores() {
  local threads=$((cores / 2))
  [ "$cores" -ge 2 ] || { echo "skipped: one core"; return; }
  small=(DDLRUN_WALLTIME=10m)
  submit --queue cores --doctor warn --name ranks 2x2x1 -- sh -c 'echo "rank $OMPI_COMM_WORLD_RANK $(hostname -s)" \
    "of $OMPI_COMM_WORLD_SIZE omp $OMP_NUM_THREADS cores $(nproc) of $(sed -n "s/^Cpus_allowed_list:\s*//p" /proc/self/status)"'
  ends 0
  same "pbs_server has" "4 $((cores * 2)) 2" "$(for name in mpiprocs ncpus nodect; do field "$id" "Resource_List.$name"; done | xargs)"
  same "ranks" "0 1 2 3" "$(grep '^rank' "$work/out" | awk '{ print $2 }' | sort | xargs)"
  same "of" 4 "$(grep '^rank' "$work/out" | awk '{ print $5 }' | sort -u | xargs)"
  same "ranks on each host" "2 2" "$(grep '^rank' "$work/out" | awk '{ print $3 }' | sort | uniq -c | awk '{ print $1 }' | xargs)"
  same "threads and cores of each rank" "$threads $threads" "$(grep '^rank' "$work/out" | awk '{ print $7, $9 }' | sort -u | xargs)"
  same "ranks of a host share no core" 4 "$(grep '^rank' "$work/out" | awk '{ print $3, $11 }' | sort -u | grep -c .)"
  ! grep -q 'CPU-06' "$work/out" || fail "doctor rejects the request: $(grep -A 4 CPU-06 "$work/out")"
  run on node1 "$tool" history
  ends 0
  prints "$id"
  run on node1 "$tool" report "$(on node1 bash -c 'echo ddlrun-jobs/ranks-*/run*')" -o ranks.html
  ends 0
  [ -s "$lab_home/ranks.html" ] || fail "no report"
}
# With doctor as submit calls it by default. TMPDIR of the job is on its first host only, and doctor asks the other by ssh.
scenario_doctor_on_two_hosts() {
  small=(DDLRUN_WALLTIME=10m)
  submit --queue cores --name examined 1x2x1 -- sh -c 'echo "rank $OMPI_COMM_WORLD_RANK in $(hostname -s)"'
  ends 0
  same "ranks" "rank 0 in node5 rank 1 in node6" "$(grep '^rank' "$work/out" | sort | xargs)"
  grep -q '2 hosts by ssh' "$work/out" || fail "doctor did not ask both hosts: $(cat "$work/out")"
  ! grep -q DISK-02 "$work/out" || fail "doctor rejects PBS's TMPDIR: $(grep -A 4 DISK-02 "$work/out")"
}
# More threads than the job's cores: CPU-06, which reads exec_host of qstat, ends the job.
scenario_doctor_stops() {
  small=(DDLRUN_WALLTIME=10m DDLRUN_EXCLUSIVE=no 'DDLRUN_SETUP=export OMP_NUM_THREADS=64')
  submit --queue cores --doctor stop --name narrow 1x1x1 -- true
  [ "$status" -ne 0 ] || fail "it ended well"
  grep -q 'CPU-06' "$work/out" || fail "CPU-06 is not reported: $(tail -n 12 "$work/out")"
  grep -q 'nothing is started' "$work/out" || fail "doctor did not stop it: $(tail -n 12 "$work/out")"
}
# More ranks than cores: doctor in the job accepts what was asked for.
scenario_oversubscribed() {
  small=(DDLRUN_WALLTIME=10m)
  submit --queue cores --doctor stop --oversubscribe --name shared "$((cores + 1))x1x1" -- sh -c 'echo "rank $DDLRUN_RANK"'
  ends 0
  same "ranks" "$((cores + 1))" "$(grep -c '^rank' "$work/out")"
}
# pbsdsh ends with 0, and PBS catches what its tasks print.
scenario_pbsdsh_output() {
  submit --name dshlog 1x2x1 -- bash -c 'echo before; exec pbsdsh -- bash -c "echo task; exit 3"'
  ends 0
  prints before
  prints "/scheduler.log <=="
  same "tasks" 2 "$(grep -c '^task' "$work/out")"
  ddl logs "$id"
  same "tasks by logs" 2 "$(grep -c '^task' "$work/out")"
  ddl diagnose "$id"
  ends 1
}
# The real pbsdsh, in a job of two ranks on each of two hosts.
scenario_pbsdsh() {
  submit --queue cores --exclusive yes --name dsh 2x2x1 -- bash -c 'sort "$PBS_NODEFILE" | xargs
    "$0" doctor --via pbsdsh node5,node6 --only NAME-07,LIM-01,CPU-06 --all; echo "status $?"
    "$0" doctor --via ssh,pbsdsh node5,node6 --only PATH-01 --all; echo "status $?"
    find . -maxdepth 2 -name ".ddlrun-doctor-*"' "$tool"
  ends 0
  prints "node5 node5 node6 node6"
  prints "2 hosts by pbsdsh"
  prints "2 hosts by ssh and pbsdsh"
  grep -q "pass .*NAME-07" "$work/out" || fail "two hosts are taken for one machine: $(cat "$work/out")"
  ! grep -q 'ddlrun-agent\|ddlrun-doctor-' "$work/out" || fail "the agent's words or files are left: $(cat "$work/out")"
}
scenario_gpus() {
  submit --gpus 2 --name gpus 1x1x1 -- true
  ends 0
  same "pbs_server gave" 2 "$(field "$id" Resource_List.ngpus)"
  field "$id" exec_vnode | grep -q 'ngpus=2' || fail "exec_vnode: $(field "$id" exec_vnode)"
}
scenario_named_hosts() {
  submit 1x2x1 node2,node4 -- bash -c 'sort "$PBS_NODEFILE"'
  ends 0
  same "where it ran" "node2 node4" "$(grep '^node' "$work/out" | sort | xargs)"
}
scenario_environment() {
  small+=(SECRET=hidden "WANTED=seen,too")
  submit --environment WANTED --environment OWN=value --name env 1x1x1 -- sh -c 'echo "wanted=$WANTED own=$OWN secret=${SECRET-}"'
  ends 0
  prints "wanted=seen,too own=value secret="
}
scenario_names_do_nothing() {
  local odd='a b '\''c'\'' "d" $(touch PWNED) `touch PWNED` ; touch PWNED # \ é'
  run on node1 bash -c 'mkdir "odd; touch PWNED" && cd odd* && exec "$@"' bash env "${small[@]}" "$tool" submit --pbs 1x1x1 -- true
  ends 0 # the job's files are elsewhere, since such a path is nothing for a directive
  submit --name odd 1x1x1 -- printf '<%s>\n' "$odd" '-n' '*' ''
  ends 0
  same "words arrive as they are" "<$odd>|<-n>|<*>|<>|" "$(tail -n +2 "$work/out" | tr '\n' '|')"
  [ -z "$(find "$lab_home" -name PWNED)" ] || fail "something was executed"
}
# A Slurm script, converted, runs here.
# A script of old habits as a job file: what it computed is computed in the job, and reaches the ranks of all hosts.
scenario_convert_to_job_file() {
  printf '%s\n' '#!/bin/bash' '#PBS -N swept' '#PBS -l select=2:ncpus=2:mpiprocs=1' '#PBS -l place=scatter' \
    '#PBS -l walltime=00:05:00' '#PBS -J 0-1' 'cd $PBS_O_WORKDIR' 'LRS=(0.1 0.03)' 'LR=${LRS[$PBS_ARRAY_INDEX]}' \
    'export RUNDIR=run_$LR' 'export MASTER_ADDR=$(head -n 1 $PBS_NODEFILE)' 'export MASTER_PORT=29500' \
    'mpirun -np 2 -x MASTER_ADDR -x MASTER_PORT -x RUNDIR sh swept.sh $LR' | on node1 bash -c 'mkdir -p swept && cat > swept/job.pbs'
  on node1 bash -c 'cat > swept/swept.sh' <<< 'echo "$RANK of $WORLD_SIZE: $1 $RUNDIR ${MASTER_ADDR:+set} ${MASTER_PORT:+set}"'
  run on node1 bash -c 'cd swept && "$1" convert job.pbs --to ddlrun.yaml -o ddlrun.yaml' bash "$tool"
  ends 0
  run on node1 env DDLRUN_DOCTOR=off bash -c 'cd swept && "$1" submit' bash "$tool"
  ends 0
  for task in 0 1; do
    local rate=0.1
    [ "$task" = 0 ] || rate=0.03
    same "task $task" "0 of 2: $rate run_$rate set set 1 of 2: $rate run_$rate set set" \
      "$(grep -h ' of 2: ' "$lab_home"/swept/ddlrun-jobs/swept-*/output.$task.log | sort | xargs)"
  done
}
scenario_convert() {
  printf '%s\n' '#!/bin/bash' '#SBATCH -J moved' '#SBATCH -N 2' '#SBATCH --ntasks-per-node=2' '#SBATCH -t 00:05:00' \
    'echo "$SLURM_JOB_NAME"' 'exit 3' | on node1 tee moved.sh > /dev/null
  run on node1 "$tool" convert moved.sh --to pbs
  on node1 bash -c 'cat > moved.pbs' < "$work/out"
  run on node1 "$tool" lint-script moved.pbs
  [ "$status" -le 1 ] || fail "lint-script ends with $status"
  id=$(on node1 qsub moved.pbs) || fail "qsub refuses it: $(cat "$lab_home/moved.pbs")"
  ddl wait "$id"
  ends 3
  same "pbs_server has" "2 4" "$(field "$id" Resource_List.nodect) $(field "$id" Resource_List.mpiprocs)"
}
