#!/bin/bash
# SPDX-License-Identifier: MIT
# LAMMPS (Debian's lammps), as any program of MPI: 4 ranks on 2 hosts, started by launch, print the temperatures, energies
# and pressures that one rank prints which no one launched, digit by digit.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v lmp > /dev/null || { echo "skipped: no LAMMPS (apt-get install --no-install-recommends lammps)"; exit 125; }
[[ $(mpirun --version 2>&1) == *"(Open MPI)"* ]] || { echo "skipped: mpirun is not Open MPI's (apt-get install openmpi-bin)"; exit 125; }
[ "$(nproc)" -ge 2 ] || { echo "skipped: two cores are needed"; exit 125; }
lab_up 2
LAB_PATIENCE=600
cp "$lab_tests/../data/programs/melt.in" "$lab_home/melt.in"
chown 2000:2000 "$lab_home/melt.in"
# The lines of the thermodynamic table: a step and numbers.
table() { awk '/^ *Step / { on = 1 } /^Loop time/ { on = 0 } on' "$1"; }

on node1 lmp -in melt.in -log none > "$work/alone" 2> "$work/err" || fail "one rank: $(tail -n 3 "$work/err" "$work/alone")"
same "one rank: six lines of numbers" 6 "$(table "$work/alone" | grep -cE '^ +[0-9]+( +-?[0-9.]+){5} *$')"
words=(2x2x1 'node[1-2]' --cores-per-rank 1)
# The hosts share this machine's cores: who waits is to let others run.
expect 0 "4 of 4 ranks are where they were planned" on node1 "$tool" launch "${words[@]}" --strict \
  -x OMPI_MCA_mpi_yield_when_idle=1 -- lmp -in melt.in -log melt.log
same "four ranks: what one rank prints" "$(table "$work/alone")" "$(table "$work/out")"
same "four ranks: its log" "$(table "$work/alone")" "$(table "$lab_home/melt.log")"
grep -q 'on 4 procs for 100 steps with 2048 atoms' "$work/out" || fail "not one run of 4 ranks: $(grep '^Loop' "$work/out")"
grep -q '4 MPI tasks x 1 OpenMP threads' "$work/out" || fail "not one thread a rank: $(grep 'MPI tasks' "$work/out")"

# A deck that LAMMPS refuses: MPI_Abort's status, and LAMMPS' own reason stays on the screen.
sed 's/^mass 1 1.0/mass 2 1.0/' "$lab_home/melt.in" > "$lab_home/wrong.in"
expect 1 "ERROR: " on node1 "$tool" launch "${words[@]}" -- lmp -in wrong.in -log none
grep -q "failed first: it exited with status 1" "$work/err" || fail "who failed: $(tail -n 5 "$work/err")"

# What another MPI or none would start as four programs of one rank is not started.
expect_refusal 3 "each rank would be rank 0 of 1" on node1 "$tool" launch "${words[@]}" --launcher ssh -- lmp -in melt.in
grep -q 'try: --launcher openmpi$' "$work/err" || fail "by ssh: $(cat "$work/err")"
command -v mpirun.mpich > /dev/null &&
  expect_refusal 3 "linked with Open MPI" on node1 "$tool" launch "${words[@]}" --launcher mpich -- lmp -in melt.in
finish
