#!/bin/bash
# SPDX-License-Identifier: MIT
# One plan by each launcher that Debian has, on 4 hosts: every rank's host, local rank, cores and variables, as read from
# inside the rank, are what the plan says, under every launcher.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v mpirun > /dev/null || { echo "skipped: no mpirun here (apt-get install openmpi-bin)"; exit 125; }
# shellcheck source=tests/cluster/lib/rank_places.sh
. "$lab_tests/lib/rank_places.sh"
lab_up 4

hosts=(2x2x2 'node[1-4]' --cores-per-rank 1 --strict -x 'KEY=s3cret;a b')
unequal=(-H 'node1:2,node2:1,node3:2' "${hosts[@]:2}")
variables=(KEY OMP_NUM_THREADS DDLRUN_RANKS)
if build place_openmpi mpicc; then
  yield=(-x OMPI_MCA_mpi_yield_when_idle=1)
  judge openmpi on node1 "$tool" launch "${hosts[@]}" --mem-bind preferred "${yield[@]}" -- bin/place_openmpi openmpi "${variables[@]}"
  planned=uneven judge uneven_openmpi on node1 "$tool" launch "${unequal[@]}" "${yield[@]}" -- \
    bin/place_openmpi uneven_openmpi "${variables[@]}"
fi
build place_any cc -DWITHOUT_MPI || exit 1
if command -v mpirun.mpich > /dev/null; then
  # Not a program that calls MPI itself: over several hosts the MPI_Finalize of MPICH 4.0.2 on UCX may wait forever, by bare
  # mpirun, too. tests/cli/launchers.sh has one, on one host.
  judge mpich on node1 "$tool" launch "${hosts[@]}" --launcher mpich -- bin/place_any mpich "${variables[@]}"
  planned=uneven judge uneven_mpich on node1 "$tool" launch "${unequal[@]}" --launcher mpich -- \
    bin/place_any uneven_mpich "${variables[@]}"
  # libddl does not end by that MPI_Finalize; and it needs ranks of a host that share memory.
  install_trainer && cp -r "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" "$lab_home/data"
  for order in ddl packed ddl packed ddl packed; do
    status=0
    LAB_PATIENCE=60 on node1 "$tool" launch 2x2 node1,node2 --order "$order" --launcher mpich -- --global-batch 40 --max-steps 2 \
      --data data --quiet > "$work/out" 2> "$work/err" || status=$?
    same "mpich, $order: the trainer's status" 0 "$status"
    grep -q 'ranks=4 ' "$work/out" || fail "mpich, $order: the trainer: $(cat "$work/out" "$work/err")"
  done
  # A rank that fails: its status, and who it was. MPICH's mpiexec waits for the others, that never called MPI_Init.
  status=0 begun=$SECONDS
  # shellcheck disable=SC2016
  on node1 "$tool" launch "${hosts[@]}" --launcher mpich -- sh -c '[ $PMI_RANK = 6 ] && exit 7; exec sleep 60' \
    > "$work/out" 2> "$work/err" || status=$?
  same "mpich: a rank's exit status" 7 "$status"
  [ "$SECONDS" -lt $((begun + 40)) ] || fail "mpich: the other ranks outlived the failure by $((SECONDS - begun)) s"
  grep -q "rank 6 on node2" "$work/err" || fail "mpich: who failed: $(tail -n 3 "$work/err")"
fi

# A working directory that only node1 has, in its own /tmp: nothing starts, by any launcher. A host of a described
# machine is not read first; then the launcher refuses the directory, or each rank.
on node1 mkdir /tmp/only_here
elsewhere() { # LAUNCHER [COMMAND...]
  # shellcheck disable=SC2016
  local start=('cd /tmp/only_here && exec "$@"' sh "${@:2}" "$tool" launch 1x2 node1,node2 --launcher "$1")
  expect_refusal 3 "node2 cannot enter the working directory: nothing was started" on node1 sh -c "${start[@]}" -- \
    touch /home/ddl/ran_elsewhere
  grep -q '^  at:  /tmp/only_here$' "$work/err" || fail "$1: no directory in $(cat "$work/err")"
  status=0
  # shellcheck disable=SC2016
  on node1 sh -c "${start[@]}" --sockets 1 --cores 1 -- sh -c '[ "$(pwd)" = /tmp/only_here ] || touch /home/ddl/ran_elsewhere' \
    > "$work/out" 2> "$work/err" || status=$?
  [ "$status" -ne 0 ] || fail "$1: a described machine: status 0: $(cat "$work/err")"
  [ ! -e "$lab_home/ran_elsewhere" ] || fail "$1: a rank runs elsewhere"
}
! command -v mpirun > /dev/null || elsewhere openmpi
! command -v mpirun.mpich > /dev/null || elsewhere mpich
elsewhere ssh

# A program on one of two hosts only: the cause is reported, and no host is called lost.
missing() { # LAUNCHER [SALLOC...]
  on node1 "${@:2}" "$tool" launch --launcher "$1" 1x2x1 node1,node2 -- /tmp/only_on_node1 > "$work/out" 2> "$work/err"
  same "$1: a missing program: status" 127 $?
  grep -q "^ddlrun: error: the program '/tmp/only_on_node1' does not exist on node2" "$work/err" ||
    fail "$1: a missing program: $(cat "$work/err")"
  ! grep -q "was lost" "$work/err" || fail "$1: a missing program: $(cat "$work/err")"
  on node1 "$tool" history | sed -n 2p | grep -q "rank 1 on node2: the program or its interpreter does not exist there" ||
    fail "$1: a missing program: $(on node1 "$tool" history | sed -n 2p)"
}
on node1 sh -c 'printf "#!/bin/sh\nexec sleep 20\n" > /tmp/only_on_node1; chmod 755 /tmp/only_on_node1'
! command -v mpirun > /dev/null || missing openmpi
! command -v mpirun.mpich > /dev/null || missing mpich
missing ssh

# A program that reads Slurm's variables finds its own rank, whoever started it.
by_slurm_variables() {
  local launcher
  for launcher in openmpi ssh srun; do
    # shellcheck disable=SC2016
    same "$launcher: Slurm's variables" $'0/4 0\n1/4 1\n2/4 0\n3/4 1' "$(on node1 salloc -Q -N2 --ntasks-per-node=2 -w 'node[1-2]' \
      "$tool" launch --launcher $launcher --order packed 2x2 -- sh -c 'echo $SLURM_PROCID/$SLURM_NTASKS $SLURM_LOCALID' 2> "$work/err" | sort)"
  done
}

# salloc starts its command on the login node, here node1, which is not allocated.
one_host() { # LAUNCHER
  on node1 salloc -Q -N1 --ntasks-per-node=2 -w node3 "$tool" launch --launcher "$1" 2 -- hostname > "$work/out" 2> "$work/err" ||
    fail "$1: one allocated host: status $?: $(cat "$work/err")"
  same "$1: one allocated host" "node3 node3" "$(xargs < "$work/out")"
  grep -qx 'ddlrun: hosts: node3 (SLURM_JOB_NODELIST)' "$work/err" || fail "$1: one allocated host: $(cat "$work/err")"
}
# Ranks of srun get the environment of the job, as without ddlrun.
# shellcheck disable=SC2016
by_environment() {
  local print=(sh -c 'echo "$PLAIN $STEPS"') salloc=(env PLAIN='a b' STEPS=9 salloc -Q -N2 -n2) alone
  alone=$(on node1 "${salloc[@]}" srun "${print[@]}")
  same "srun alone: the environment" $'a b 9\na b 9' "$alone"
  same "srun: the environment" "$alone" "$(on node1 "${salloc[@]}" "$tool" launch --launcher srun 1x2 -- "${print[@]}" 2> "$work/err")"
  ! grep -q 'only by -x NAME' "$work/err" || fail "srun: $(cat "$work/err")"
  same "ssh: the environment of other hosts" 'a b 9' \
    "$(on node1 "${salloc[@]}" -w 'node[1-2]' "$tool" launch --launcher ssh 1x2 -- sh -c '[ "$(hostname)" = node1 ] || echo "$PLAIN $STEPS"' 2> "$work/err")"
  ! grep -q ' -x ' "$work/err" || fail "ssh: $(cat "$work/err")"
  same "Open MPI by srun: the environment" $'a b 9\na b 9' \
    "$(on node1 "${salloc[@]}" "$tool" launch --launcher openmpi 1x2 -- "${print[@]}" 2> "$work/err")"
  ! grep -q 'only by -x NAME' "$work/err" || fail "Open MPI by srun: $(cat "$work/err")"
}
# Open MPI has a slot for each task: fewer are refused before the start, where mpirun alone refuses them late.
by_slots() {
  local launch=("$tool" launch --launcher openmpi 2x2x1)
  printf 'rank %s slot=0:%s\n' 0=node1 0 1=node2 0 2=node1 1 3=node2 1 > "$lab_home/two.rf"
  ! on node1 salloc -Q -N2 --ntasks-per-node=1 -w 'node[1-2]' mpirun -n 4 --rankfile two.rf true > "$work/out" 2>&1 ||
    fail "mpirun starts ranks without a slot"
  expect_refusal 3 "the Slurm job has 1 task on each of 2 nodes, 2x2x1 needs 2" \
    on node1 salloc -Q -N2 --ntasks-per-node=1 "${launch[@]}" -- true
  expect 0 '' on node1 salloc -Q -N2 --ntasks-per-node=2 "${launch[@]}" -- true
  expect 0 '' on node1 salloc -Q -N2 --ntasks-per-node=1 "${launch[@]}" --mpi-arg --oversubscribe -- true
}
by_srun() {
  for launcher in openmpi ssh srun; do one_host "$launcher"; done
  # From outside of the allocation mpiexec of MPICH 4.2.1 ends its ssh before a rank starts; launch reports that.
  if mpirun.mpich --version 2> /dev/null | grep -q 'Version: *4\.0\.'; then one_host mpich; fi
  by_environment
  by_slots
  by_slurm_variables
  elsewhere srun salloc -Q -N2 -n2
  missing srun salloc -Q -N2 -n2
  # An allocation that counts CPUs a task: srun must not confine the step to them.
  salloc=(salloc -Q -N4 -n8 -c1)
  judge srun_openmpi on node1 env SRUN_CPUS_PER_TASK=1 "${salloc[@]}" "$tool" launch "${hosts[@]}" --launcher srun \
    -x OMPI_MCA_mpi_yield_when_idle=1 -- bin/place_openmpi srun_openmpi "${variables[@]}"
  planned=uneven judge uneven_srun on node1 "${salloc[@]}" "$tool" launch "${unequal[@]}" --launcher srun -- \
    bin/place_any uneven_srun "${variables[@]}"
  judge srun_any on node1 "${salloc[@]}" "$tool" launch "${hosts[@]}" --launcher srun -- \
    bin/place_any srun_any "${variables[@]}"
  # A rank that crashes: srun ends the others and answers their 143, the highest; the job's status is the rank's own.
  status=0
  # shellcheck disable=SC2016
  on node1 "${salloc[@]}" "$tool" launch "${hosts[@]}" --launcher srun -- \
    sh -c '[ $SLURM_PROCID = 6 ] && kill -SEGV $$; exec sleep 60' > "$work/out" 2> "$work/err" || status=$?
  same "srun: a rank's exit status" 139 "$status"
  grep -q "rank 6 on node2 failed first: .*SIGSEGV" "$work/err" || fail "srun: who failed: $(tail -n 3 "$work/err")"
  ! grep -q mpirun "$work/err" || fail "srun: options of mpirun: $(grep mpirun "$work/err")"
  expect_refusal 3 "node4 is not in the allocation" on node1 salloc -Q -N2 -w 'node[1-2]' "$tool" launch 1x2x1 node1,node4 \
    --launcher srun -- true
}
expect_refusal 2 "needs a Slurm allocation" on node1 "$tool" launch 2 --launcher srun -- true
if command -v slurmctld > /dev/null && slurm up 2 > "$work/slurm" 2>&1; then
  by_srun
  slurm down > /dev/null || fail "slurm down"
else
  echo "Slurm left out: $(tail -n 1 "$work/slurm" 2> /dev/null)"
fi
finish
