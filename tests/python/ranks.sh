#!/bin/bash
# SPDX-License-Identifier: MIT
# ranks.sh DDL_TRAIN: the Python package, alone and on 1, 2 and 4 ranks under each MPI that is here, under launch, and without
# NumPy; and how programs end.
here=$(dirname "$(readlink -f "$0")")
. "$here/../mpi/ranks.sh"
command -v python3 > /dev/null || skip "no python3"
export PYTHONPATH=$DDLRUN_BUILD_DIR/python PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=$work/state
PATH=$(dirname "$DDLRUN"):$PATH
python=python3
/usr/bin/python3 -c 'import numpy' 2> /dev/null && python=/usr/bin/python3 # the system's, where another stands before it
$python -c 'import numpy' 2> /dev/null || echo "without NumPy: it is not installed (apt-get install python3-numpy)"

expect 0 '' "$python" "$here/test_alone.py"
expect 0 '' "$python" "$here/test_ranks.py"
mkdir "$work/no_numpy" && echo 'raise ImportError("hidden")' > "$work/no_numpy/numpy.py"
expect 0 'skipped=1' env PYTHONPATH="$work/no_numpy:$PYTHONPATH" "$python" "$here/test_ranks.py"
for mpi in openmpi mpich; do
  starter=$(command -v "mpirun.$mpi")
  if [ -z "$starter" ] || [ ! -e "$DDLRUN_BUILD_DIR/lib/ddlrun/libddl_mpi_$mpi.so" ]; then
    echo "without $mpi: it is not here"
    continue
  fi
  launcher=("$starter")
  [ "$mpi" = mpich ] || launcher+=(--oversubscribe --bind-to none)
  for ranks in 1 2 4; do
    expect 0 '' ranks "$ranks" "$python" "$here/test_ranks.py"
    [ "$(grep -c '^OK' "$work/err")" -eq "$ranks" ] || fail "$mpi: not $ranks ranks are OK: $(tail -n 5 "$work/err")"
  done
done
if "$python" -c 'import mpi4py, numpy' 2> /dev/null && command -v mpirun.openmpi > /dev/null; then # Debian's is for Open MPI
  launcher=(mpirun.openmpi --oversubscribe --bind-to none)
  expect 0 'the same ranks and sums' ranks 3 "$python" "$here/beside_mpi4py.py"
  expect 0 'the same ranks and sums' ranks 3 "$python" "$here/beside_mpi4py.py" context_first
else
  echo 'without mpi4py: it, NumPy or Open MPI is not installed (apt-get install python3-mpi4py)'
fi
expect 0 'framework ddl' "$DDLRUN" launch 2 --oversubscribe -- "$python" "$here/test_ranks.py"
[ "$(grep -c '^OK' "$work/err")" -eq 2 ] || fail "launch: not 2 ranks are OK: $(tail -n 5 "$work/err")"

command -v mpirun.openmpi > /dev/null || { echo "without the ends of programs: no Open MPI"; finish; exit; }
launcher=(mpirun.openmpi --oversubscribe --bind-to none)
# mpirun has the status of the rank that ends first.
run ranks 3 "$python" "$here/ends.py" exception
[[ $status = [17] ]] || fail "status $status after an exception"
has "exception" "$work/out" "LostError after a moment: rank 2 ("
has "exception" "$work/out" ") gave up: ValueError: a fault of the program"
grep -q 'ValueError: a fault of the program' "$work/err" || fail "the fault of the program is not printed: $(tail -n 5 "$work/err")"
expect 7 ") gave up: ValueError: a fault of the program" ranks 3 "$python" "$here/ends.py" caught
expect 3 "" ranks 1 "$python" "$here/ends.py" exit
run ranks 3 "$python" "$here/ends.py" exit
[[ $status = [37] ]] || fail "status $status after sys.exit(3)"
grep -q 'LostError after a moment: ' "$work/out" || fail "exit: $(cat "$work/out" "$work/err")"
expect 1 'calls all_reduce #1 (sum) of 2 float32, rank 0 (' ranks 3 "$python" "$here/ends.py" mismatch
expect 1 'ddl: ' ranks 2 "$python" "$here/ends.py" started
expect 0 '' ranks 3 "$python" "$here/ends.py" with
expect 0 'this Context belongs to another process' ranks 2 "$python" "$here/ends.py" fork
expect 0 'this Context has ended' ranks 2 "$python" "$here/ends.py" ended
expect 0 '' ranks 3 "$python" "$here/ends.py" nothing
[ ! -s "$work/err" ] || fail "a program without finalize(): $(cat "$work/err")"
finish
