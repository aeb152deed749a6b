#!/bin/bash
# SPDX-License-Identifier: MIT
# TensorFlow of PyPI on virtual hosts: the strategies train what they train with TF_CONFIG made by hand, on the CPUs of the
# plan, with as many threads as the plan has; parameter servers end with the chief.
# shellcheck source=tests/peers/framework_test.sh
. "$(dirname "$(readlink -f "$0")")/framework_test.sh"
framework_up keras 4 "$peers"/keras_{train,threads}.py
for name in Mirrored MultiWorkerMirrored ParameterServer; do
  printf 'import tensorflow as tf\nimport keras_train\nkeras_train.train(tf.distribute.%sStrategy)\n' $name > "$lab_home/$name.py"
done
sed -i 's/(tf.distribute.P.*/(lambda: tf.distribute.ParameterServerStrategy(keras_train.resolver))/' "$lab_home/ParameterServer.py"
mkdir "$lab_home"/{data,{run,hand}_{one,workers,servers}}
cp "$DDLRUN_SOURCE_DIR"/tests/data/fashion-mnist-subset/*.gz "$lab_home/data"
chown -R 2000:2000 "$lab_home"
settings=(TF_USE_LEGACY_KERAS=1 TF_CPP_MIN_LOG_LEVEL=2)

# by_hand DIRECTORY PROGRAM CLUSTER TYPE.INDEX@HOST:CPU...: the tasks, each with TF_CONFIG.
by_hand() {
  local task name host
  for task in "${@:4}"; do
    name=${task%@*} host=${task#*@}
    on "${host%:*}" env "${settings[@]}" BY_HAND=1 TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=2 \
      ${3:+TF_CONFIG="{\"cluster\":{$3},\"task\":{\"type\":\"${name%.*}\",\"index\":${name#*.}}}"} \
      taskset -c "${host#*:}" "$python" "$2" "hand_$1" data > "$work/hand_$1.$name" 2>&1 &
  done
  wait
}
same_as_by_hand() { # DIRECTORY TOLERANCE
  compare "$1" python3 "$peers/keras_judge.py" "$lab_home/run_$1" "$lab_home/hand_$1" "$2"
}

# As many threads as requested, on the one core of each rank.
launch 2x2x1 'node[1-2]' --threads 3 --framework tensorflow -- "$python" keras_threads.py
same "threads" "$(printf 'node%d intra 3 inter 2 cpus 1\n' 1 1 2 2)" "$(sort "$work/out")"

by_hand one Mirrored.py "" alone.0@node1:"${cpus[0]}"
launch 1 node1 -- "$python" Mirrored.py run_one data
same_as_by_hand one 1e-5

by_hand workers MultiWorkerMirrored.py '"worker":["10.1.1.1:2222","10.1.1.1:2223","10.1.1.2:2222","10.1.1.2:2223"]' \
  worker.{0@node1:"${cpus[0]}",1@node1:"${cpus[1]}",2@node2:"${cpus[0]}",3@node2:"${cpus[1]}"}
launch 2x2x1 'node[1-2]' -- "$python" MultiWorkerMirrored.py run_workers data
same_as_by_hand workers 1e-5

# A chief, 2 parameter servers and 3 workers on hosts of unequal counts; only the chief ends by itself.
servers='"chief":["10.1.1.1:2222"],"ps":["10.1.1.2:2222","10.1.1.3:2222"],"worker":["10.1.1.1:2223","10.1.1.3:2223","10.1.1.4:2222"]'
by_hand servers ParameterServer.py "$servers" {chief.0@node1,ps.1@node3}:"${cpus[1]}" ps.0@node2:"${cpus[0]}" \
  {worker.0@node1,worker.1@node3,worker.2@node4}:"${cpus[0]}"
launch --ps 2 --workers 3 -H node1:2,node2:1,node3:2,node4:1 -- "$python" ParameterServer.py run_servers data
same_as_by_hand servers 0.15

# The program in examples/tensorflow; a second start has nothing left to train.
cp "$DDLRUN_SOURCE_DIR/examples/tensorflow/train_keras.py" "$lab_home"
for start in 1 2; do
  launch 1x2x1 'node[1-2]' -- "$python" train_keras.py --data data --epochs 2 --backup backup
  has "start $start" "$work/out" 'with 2 workers'
done
finish
