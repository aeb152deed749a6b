#!/bin/bash
# SPDX-License-Identifier: MIT
# Horovod: launch, with 2 ranks on one virtual host and on two, gives the losses of horovodrun by MPI and by Gloo; settings
# arrive, and one interface of two. The example trains, and resumes.
# shellcheck source=tests/peers/framework_test.sh
. "$(dirname "$(readlink -f "$0")")/framework_test.sh"
command -v mpirun mpicxx cmake > /dev/null || { echo "skipped: Horovod needs Open MPI, mpicxx and CMake"; exit 125; }
place=$("$peers/build_horovod.sh") || { status=$?; echo "$place"; exit "$status"; }
framework_up torch 2 "$peers/horovod_train.py"
mkdir -p "$lab_home"/{one,two}/{mpi,gloo,run}
chown -R 2000:2000 "$lab_home"

# compare_with_horovodrun DIRECTORY HOSTS
compare_with_horovodrun() {
  local way
  for way in mpi gloo; do
    run on node1 env PATH="$place/bin:$PATH" OMP_NUM_THREADS=1 horovodrun --$way -np 2 -H "$2" "$python" horovod_train.py "$1/$way"
    [ "$status" -eq 0 ] || fail "$1: horovodrun --$way: status $status: $(tail -n 15 "$work/err")"
  done
  launch -H "$2" --timeline-filename "$1/timeline.json" --fusion-threshold-mb 32 --cycle-time-ms 2 --autotune \
    --autotune-log-file "$1/autotune.csv" -- "$python" horovod_train.py "$1/run"
  compare "horovod, host $1" python3 "$peers/horovod_judge.py" "$lab_home/$1"
}
compare_with_horovodrun one node1:2
compare_with_horovodrun two node1:1,node2:1

# The program in examples/horovod: two epochs, and a third from its checkpoint.
cp "$DDLRUN_SOURCE_DIR/examples/horovod/train_horovod.py" "$lab_home"
mkdir "$lab_home/data"
cp "$DDLRUN_SOURCE_DIR"/tests/data/fashion-mnist-subset/*.gz "$lab_home/data"
chown -R 2000:2000 "$lab_home"
for epochs in 2 3; do launch -H node1:1,node2:1 -- "$python" train_horovod.py --data data --epochs $epochs --checkpoint model.pt; done
same "the second start" "$(printf 'resumes after epoch 2\nepoch 3: test accuracy')" "$(sed 's/accuracy .*/accuracy/' "$work/out")"
finish
