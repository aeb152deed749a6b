#!/bin/bash
# SPDX-License-Identifier: MIT
# Converted PBS scripts before a real Slurm: taken as they are, and really run on 4 hosts.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/job_scripts/convert
lab_up 4
slurm up 68 4 > "$work/slurm_up" 2>&1 || { cat "$work/slurm_up"; exit 1; }
job=$lab_home/jobs
mkdir -p "$job/scripts" "$lab_home/bin"

# Stand-ins for what a centre has: modules, Intel MPI's mpirun, its script.
cat > "$lab_home/.bash_profile" <<'EOF'
PATH=$HOME/bin:$PATH
unset BASH_ENV # Lmod's would replace the stand-in
module() { echo "module $*" >> "$HOME/jobs/modules"; }
EOF
echo 'export MLSL=1' > "$job/mlslvars.sh"
cat > "$lab_home/bin/mpirun" <<'EOF'
#!/bin/sh
echo "$PWD $OMP_NUM_THREADS $MLSL $SLURM_JOB_NUM_NODES $SLURM_CPUS_PER_TASK $*" > "$HOME/jobs/mpirun_seen"
EOF
cat > "$job/scripts/run_intelcaffe.sh" <<'EOF'
#!/bin/sh
cp "$2" "$HOME/jobs/hostfile_seen"
/usr/bin/mpirun --hostfile "$2" --map-by ppr:1:node -n 4 hostname > "$HOME/jobs/hosts_seen"
EOF
chmod +x "$lab_home/bin/mpirun" "$job/scripts/run_intelcaffe.sh"

# More ranks than this machine has cores. Open MPI 5 would put all ranks on the first host for --oversubscribe.
case $(mpirun --version) in *'(Open MPI) 5'*) share='--bind-to none' unbound='--bind-to none ' ;; *) share=--oversubscribe unbound='' ;; esac

# Behind a pipe a failure does not reach the count: "|| failures=..." there.
# convert NAME [STATUS]: the PBS script on stdin becomes ~/jobs/NAME.sh
convert() {
  cat > "$work/$1.pbs"
  local status=0 before=$failures
  "$DDLRUN" convert "$work/$1.pbs" --to slurm > "$job/$1.sh" 2> "$work/said" || status=$?
  [ "$status" -eq "${2-0}" ] || fail "$1: status $status: $(cat "$work/said")"
  chown -R 2000:2000 "$lab_home"
  on node1 sbatch --test-only -D /home/ddl/jobs "/home/ddl/jobs/$1.sh" > "$work/tested" 2>&1 || fail "$1: $(cat "$work/tested")"
  [ "$failures" -eq "$before" ]
}
submit() { on node1 bash -lc "cd jobs && sbatch --wait $1.sh" > "$work/out" 2>&1; }

# The KISTI page's script, with the paths of this lab.
sed "s#/apps/[^ ]*/mlslvars.sh#\$HOME/jobs/mlslvars.sh#" "$golden/kisti_caffe.pbs" | convert kisti 1 || failures=$((failures + 1)) # its KMP_AFFINITY is wrong, there as here
submit kisti || fail "kisti: $(cat "$work/out" "$job"/test.[eo]*)"
same "what mpirun was given" \
  "/home/ddl/jobs 60 1 4 68 -PSM2 -prepend-rank caffe train --solver ./models/intel_optimized_models/multinode/alexnet_4nodes/solver.prototxt" \
  "$(cat "$job/mpirun_seen")"
same "the node file" "node1 node2 node3 node4 " "$(tr '\n' ' ' < "$job/hostfile_seen")"
same "hosts that ran" "node1 node2 node3 node4 " "$(sort "$job/hosts_seen" | tr '\n' ' ')"
same "modules" 2 "$(grep -c . "$job/modules")"
same "output files" "2" "$(find "$job" -name 'test.[oe]*' | wc -l)"
same "errors" "" "$(cat "$job"/test.e*)"

# Real Open MPI without its --hostfile: 2 hosts with 4 ranks each; what PBS sets by itself.
sed "s/--oversubscribe/$share/" <<'EOF' | convert ranks || failures=$((failures + 1))
#!/bin/bash
#PBS -N ranks
#PBS -l select=2:ncpus=8:mpiprocs=4:ompthreads=2
#PBS -l place=scatter
#PBS -j oe
cd $PBS_O_WORKDIR
/usr/bin/mpirun -n 8 --oversubscribe --hostfile $PBS_NODEFILE sh -c 'echo "$(hostname) $OMP_NUM_THREADS"'
sort $PBS_NODEFILE | uniq -c
exit 5
EOF
status=0
submit ranks || status=$?
same "the job's own status" 5 "$status"
same "ranks and threads" "4 node1 2;4 node2 2;" "$(grep ' 2$' "$job"/ranks.o* | sort | uniq -c | sed 's/^ *//' | tr '\n' ';')"
same "the node file" "4 node1;4 node2;" "$(grep '^ ' "$job"/ranks.o* | sed 's/^ *//' | tr '\n' ';')"

# Hosts with different numbers of ranks: Open MPI starts them where PBS would, and the node file says so.
sed "s/--hostfile/$unbound&/" <<'EOF' | convert unlike || failures=$((failures + 1))
#!/bin/bash
#PBS -N unlike
#PBS -l select=1:ncpus=4:mpiprocs=1+2:ncpus=4:mpiprocs=4 -l place=scatter
#PBS -j oe
#PBS -v WORDS="x,y z"
cd $PBS_O_WORKDIR
NP=$(wc -l < $PBS_NODEFILE)
/usr/bin/mpirun -n $NP --hostfile $PBS_NODEFILE hostname | sort | uniq -c
echo "[$WORDS] $NP"
EOF
submit unlike || fail "unlike: $(cat "$work/out")"
same "ranks by host" "1 node1;4 node2;4 node3;" "$(grep '^ ' "$job"/unlike.o* | sed 's/^ *//' | tr '\n' ';')"
same "variable and count" "[x,y z] 9" "$(tail -n 1 "$job"/unlike.o*)"

# An array, and a job that PBS would start at home.
convert array <<'EOF'
#PBS -N many
#PBS -J 0-2
#PBS -l select=1:ncpus=1
echo "$PWD $PBS_ARRAY_INDEX"
EOF
submit array || fail "array: $(cat "$work/out")"
same "array" "/home/ddl 0;/home/ddl 1;/home/ddl 2;" "$(cat "$job"/many.o* | sort | tr '\n' ';')"

# What Slurm has to take: every shape of the manual.
number=0
while read -r directive; do
  number=$((number + 1))
  printf '#!/bin/bash\n#PBS -N t%s\n#PBS %s\ncd /\n' "$number" "$directive" | convert "shape$number" || failures=$((failures + 1))
done <<'EOF'
-l select=4:ncpus=68:mpiprocs=4:ompthreads=17 -l place=scatter:excl
-l select=2:ncpus=8:ngpus=4 -l place=scatter
-l select=1:ncpus=8:mpiprocs=1+3:ncpus=4:mpiprocs=2
-l select=4:ncpus=4:mpiprocs=2 -l place=pack
-l select=1:ncpus=7:mpiprocs=2:mem=1gb
-l select=1:host=node3:ncpus=2
-l nodes=2:ppn=8:gpus=1
-l walltime=90 -q normal -A caffe -P project
-m abe -M user@example.org -r y -h
-a 203001020304.05 -W block=true
-v A=1,B=two -J 0-9:3%2 -p -100
-l select=1:ncpus=4:mpiprocs=1+2:ncpus=16:mpiprocs=16
-l nodes=2:ppn=4 -t 0,2,4-8%2
-o $PBS_O_WORKDIR/out.log -q normal@server
-d /tmp
EOF
same "shapes asked" 15 "$number"
# 7 cores for 2 ranks: never fewer.
on node1 sbatch --test-only -D /home/ddl/jobs /home/ddl/jobs/shape5.sh > "$work/tested" 2>&1
grep -q 'using 8 processors' "$work/tested" || fail "shape5: $(cat "$work/tested")"
finish
