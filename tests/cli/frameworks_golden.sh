#!/bin/bash
# SPDX-License-Identifier: MIT
# What frameworks expect, as dry runs against tests/golden/frameworks/ (the founding lines: old_lines.sh). DDLRUN_WRITE_GOLDEN=1 writes
# them anew.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/frameworks
binary=$(readlink -f "$DDLRUN")
printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' > "$work/mpirun"
printf "#!/bin/sh\n" > "$work/python"
chmod +x "$work/mpirun" "$work/python"
cd "$work" || exit 1

# golden NAME COMMAND ARGUMENTS...
golden() {
  local name=$1 command=$2
  shift 2
  expect 0 '' env -i PATH="$work" HOME=/home/user "$DDLRUN" "$command" --dry-run "${directory[@]}" "$@"
  sed -e 's/^#by ddlrun [0-9.]* /#by ddlrun VERSION /' -e "s:$binary:/opt/ddlrun/bin/ddlrun:g" -e "s:$(pwd -P):/job:g" "$work/out" > "$work/found"
  [[ -z ${DDLRUN_WRITE_GOLDEN-} ]] || cp "$work/found" "$golden/$name.sh"
  diff -u "$golden/$name.sh" "$work/found" || fail "$name differs"
}
directory=(--run-dir /runs/one)
minsky=(--sockets 2 --cores 10 --smt 8)
printf 'import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\n' > train_horovod.py
printf 'import torch.distributed as dist\n' > train_ddp.py
printf 'import tensorflow as tf\ns = tf.distribute.experimental.MultiWorkerMirroredStrategy()\n' > keras_mnist.py
printf 'net: "net.prototxt"\n' > solver.prototxt
: > net.prototxt
printf 'n1\nn2\nn3\nn4\n' > nodes

golden horovod launch 1x4x1 n1,n2,n3,n4 --sockets 1 --cores 68 --threads 32 -- python train_horovod.py
golden tensorflow_workers launch 1x2x1 a,b "${minsky[@]}" -- python keras_mnist.py
golden pytorch launch 2x2x1 a,b "${minsky[@]}" --master-port 29500 -- python train_ddp.py
directory=(--output /runs/one)
golden intel_caffe intelcaffe --hostfile nodes --solver solver.prototxt --network opa --ppn 1 --num_omp_threads 60 --cpu knl --sockets 1 --cores 68
finish
