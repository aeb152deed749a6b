#!/bin/bash
# SPDX-License-Identifier: MIT
# GROMACS (Debian's gromacs, gmx_mpi) on 2 hosts of 2 ranks: a box of water has the energies that the same 4 ranks print
# when mpirun itself starts them, digit by digit.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v gmx_mpi > /dev/null || { echo "skipped: no GROMACS (apt-get install --no-install-recommends gromacs; 380 MB)"; exit 125; }
[[ $(mpirun --version 2>&1) == *"(Open MPI)"* ]] || { echo "skipped: mpirun is not Open MPI's (apt-get install openmpi-bin)"; exit 125; }
[ "$(nproc)" -ge 2 ] || { echo "skipped: two cores are needed"; exit 125; }
lab_up 2
LAB_PATIENCE=600
cp "$lab_tests"/../data/programs/water.{mdp,top} "$lab_home/"
mkdir "$lab_home/own" "$lab_home/ours"
chown -R 2000:2000 "$lab_home"/{water.mdp,water.top,own,ours}
on node1 gmx -quiet grompp -f water.mdp -p water.top -c /usr/share/gromacs/top/spc216.gro -o water.tpr > "$work/grompp" 2>&1 ||
  { fail "grompp: $(tail -n 5 "$work/grompp")"; finish; }
mdrun=(gmx_mpi -quiet mdrun -s water.tpr -reprod -pin off -deffnm)
# The hosts share this machine's cores: who waits is to let others run.
on node1 env OMP_NUM_THREADS=1 mpirun --host node1:2,node2:2 --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
  --bind-to none --mca mpi_yield_when_idle 1 -x OMP_NUM_THREADS "${mdrun[@]}" own/run > "$work/own" 2>&1 ||
  fail "mpirun: $(tail -n 5 "$work/own")"
# Energies, temperatures and pressures of all steps; times and loads are each run's own.
energies() { sed -e '1,/^Started mdrun/d' -e '/A V E R A G E S/,$d' "$1" | grep -E '^( +-?[0-9.]+(e[-+][0-9]+)?)+$'; }
same "mpirun: three lines of numbers for each of six steps" 18 "$(energies "$lab_home/own/run.log" | wc -l)"

expect 0 "4 of 4 ranks are where they were planned" on node1 "$tool" launch 2x2x1 'node[1-2]' --cores-per-rank 1 --strict \
  -x OMPI_MCA_mpi_yield_when_idle=1 -- "${mdrun[@]}" ours/run
grep -q '^Using 4 MPI processes' "$lab_home/ours/run.log" || fail "not one run of 4 ranks: $(grep 'MPI process' "$lab_home/ours/run.log")"
grep -q 'set by environment variable OMP_NUM_THREADS to 1' "$lab_home/ours/run.log" || fail "OMP_NUM_THREADS did not reach GROMACS"
same "launch: what mpirun's own run has" "$(energies "$lab_home/own/run.log")" "$(energies "$lab_home/ours/run.log")"
finish
