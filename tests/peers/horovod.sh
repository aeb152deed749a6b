#!/bin/bash
# SPDX-License-Identifier: MIT
# Horovod: launch, on one virtual host, gives the losses of horovodrun by MPI and by Gloo; settings arrive.
# shellcheck source=tests/peers/framework_test.sh
. "$(dirname "$(readlink -f "$0")")/framework_test.sh"
command -v mpirun mpicxx cmake > /dev/null || { echo "skipped: Horovod needs Open MPI, mpicxx and CMake"; exit 125; }
place=$("$peers/build_horovod.sh") || { status=$?; echo "$place"; exit "$status"; }
framework_up torch 1 "$peers/horovod_train.py"
LAB_PATIENCE=120
mkdir "$lab_home"/{mpi,gloo,run}
chown -R 2000:2000 "$lab_home"
for way in mpi gloo; do
  run on node1 env PATH="$place/bin:$PATH" OMP_NUM_THREADS=1 horovodrun --$way -np 2 "$python" horovod_train.py $way
  [ "$status" -eq 0 ] || fail "horovodrun --$way: status $status: $(tail -n 5 "$work/err")"
done
launch --np -2 --timeline-filename timeline.json --fusion-threshold-mb 32 --cycle-time-ms 2 --autotune \
  --autotune-log-file autotune.csv -- "$python" horovod_train.py run
compare horovod python3 "$peers/horovod_judge.py" "$lab_home"
finish
