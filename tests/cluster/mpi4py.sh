#!/bin/bash
# SPDX-License-Identifier: MIT
# mpi4py (Debian's python3-mpi4py) on 2 hosts of 2 ranks: MPI's and the kernel's view inside the ranks is what the dry
# run promised and the run's plan says; an exception in one rank ends the job and names it; where no MPI would start
# the ranks, nothing is started.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
python=/usr/bin/python3
$python -c 'import mpi4py' 2> /dev/null || { echo "skipped: no mpi4py (apt-get install python3-mpi4py)"; exit 125; }
[[ $(mpirun --version 2>&1) == *"(Open MPI)"* ]] || { echo "skipped: mpirun is not Open MPI's (apt-get install openmpi-bin)"; exit 125; }
mapfile -t cpus < <(for core in 0 1; do hwloc-calc --po -I pu "core:$core" 2> /dev/null; done)
[ -n "${cpus[1]-}" ] || { echo "skipped: two cores are needed, and hwloc-calc"; exit 125; }
lab_up 2
LAB_PATIENCE=600
cp "$lab_tests/../support/mpi4py_places.py" "$lab_home/places.py"
chown 2000:2000 "$lab_home/places.py"
words=(2x2x1 'node[1-2]' --cores-per-rank 1)
patient=(-x OMPI_MCA_mpi_yield_when_idle=1) # the hosts share this machine's cores

# "RANK HOST LOCAL CPUS" of a rankfile's lines "rank 3=node2 slot=0:1", as the ranks' kernel numbers CPUs.
promised() {
  sed -n 's/^rank \([0-9]*\)=\([^ ]*\) *slot=0:\([0-9]*\).*/\1 \2 \3/p' "$1" | sort -n | while read -r rank host core; do
    echo "$rank $host $core ${cpus[$core]}"
  done
}
planned() { # RUN: the same from plan.json
  $python -c 'import json, sys
for one in json.load(sys.stdin)["ranks"]: print(one["rank"], one["host"], one["local_rank"], *one["pus"])' < "$lab_home/$1/plan.json"
}
reported() { # the same, as the ranks print it
  $python -c 'import json, sys
all = json.load(sys.stdin)
assert all["size"] == 4 and all["sum"] == "1111", all
for rank, one in enumerate(all["places"]):
    assert one["rank"] == rank and one["local_size"] == 2 and one["OMP_NUM_THREADS"] == "1", one
    print(rank, one["host"], one["local_rank"], *one["pus"])' < "$work/out" || cat "$work/out" "$work/err"
}
for order in ddl packed; do
  expect 0 "asks MPI for everything" on node1 "$tool" launch "${words[@]}" --order $order --dry-run -- $python places.py
  promised "$work/out" > "$work/promised"
  expect 0 "4 of 4 ranks are where they were planned" on node1 "$tool" launch "${words[@]}" "${patient[@]}" --order $order \
    --strict --run-dir run_$order -- $python places.py
  reported > "$work/reported"
  same "$order: promised by the dry run" "$(cat "$work/promised")" "$(cat "$work/reported")"
  same "$order: the plan's file" "$(planned run_$order)" "$(cat "$work/reported")"
done
same "packed: host by host" "$(printf '%s\n' "0 node1 0 ${cpus[0]}" "1 node1 1 ${cpus[1]}" "2 node2 0 ${cpus[0]}" "3 node2 1 ${cpus[1]}")" \
  "$(cat "$work/reported")"

# --- mpi4py's own programs, by `python -m`
expect 0 "Hello, World! I am process 3 of 4 on node2." on node1 "$tool" launch "${words[@]}" "${patient[@]}" -- \
  $python -m mpi4py.bench helloworld
same "a line from each rank" 4 "$(grep -c '^Hello, World! I am process [0-3] of 4 on node[12]\.$' "$work/out")"

# --- an exception in one rank, which mpi4py makes an MPI_Abort: its status, and who it was
printf 'from mpi4py import MPI\nif MPI.COMM_WORLD.rank == 2:\n    raise ValueError("no such sample")\nMPI.COMM_WORLD.barrier()\n' > "$lab_home/raises.py"
expect 1 "rank 2 on node1" on node1 "$tool" launch "${words[@]}" "${patient[@]}" -- $python -m mpi4py raises.py
grep -q "ValueError: no such sample" "$work/err" || fail "what was raised is not shown: $(tail -n 5 "$work/err")"

# --- ssh alone starts no MPI: every rank would be rank 0 of 1
for program in places.py '-m mpi4py raises.py' '-m mpi4py.bench helloworld'; do
  # shellcheck disable=SC2086
  expect_refusal 3 "each would be rank 0 of 1" on node1 "$tool" launch "${words[@]}" --launcher ssh -- $python $program
done

# --- MPICH's launcher cannot start an mpi4py of Open MPI: the same, and reported as soon
if command -v mpiexec.hydra > /dev/null; then
  for program in places.py '-m mpi4py raises.py'; do
    # shellcheck disable=SC2086
    expect_refusal 3 "Open MPI (libmpi.so.40), and MPICH" on node1 "$tool" launch "${words[@]}" --launcher mpich -- $python $program
  done
fi
finish
