#!/bin/bash
# SPDX-License-Identifier: MIT
# The command lines of the founding documents: bash itself runs each old line over programs that only note how they were
# called, ddlrun runs the new one over an mpirun whose ranks all run here, and both must have called the same programs with
# the same words, hosts and variables. docs/migration.md is the table for people: every old line here stands there too.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 125; }
support=$DDLRUN_SOURCE_DIR/tests/support
rankfiles=$DDLRUN_SOURCE_DIR/tests/golden/rankfiles
table=$DDLRUN_SOURCE_DIR/docs/migration.md
cd "$work" || exit 1
mkdir bin old new
for name in mpirun mpiexec.hydra horovodrun caffe python solver; do
  # With -I it reads the program's syntax, and starts nothing.
  printf '#!/bin/sh\n[ "$1" != -I ] || exec python3 "$@"\nexec python3 %s record %s %s "$@"\n' "$support/old_lines.py" "$work/calls" "$name" > "bin/$name"
  chmod +x "bin/$name"
done
mv bin/mpirun old/mpirun
ln -s "$support/fake_frameworks/mpirun" new/mpirun
export PATH=$work/starters:$work/bin:/usr/bin:/bin
export LD_LIBRARY_PATH=/opt/DL/ddl/lib PYTHONPATH=/opt/DL/ddl-tensorflow XDG_STATE_HOME=$work/state

# What the lines name.
mkdir -p models/bvlc_alexnet data/mnist models/intel_optimized_models/multinode/alexnet_4nodes
: > net.prototxt
for file in solver.prototxt models/bvlc_alexnet/solver.prototxt data/mnist/lenet_solver.prototxt \
  models/intel_optimized_models/multinode/alexnet_4nodes/solver.prototxt; do
  printf 'net: "%s"\n' "$work/net.prototxt" > "$file"
done
printf 'import tensorflow as tf\nps_hosts = FLAGS.ps_hosts.split(",")\n' > distributed_mnist.py
printf 'import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\n' > train.py
printf 'import tensorflow as tf\nimport ddl\n' > ddl_mnist.py
printf 'print(1)\n' > source.py

# old LINE [STANDS_AS]: how the next one was typed; in docs/migration.md, there perhaps with "..." for long parts.
old() {
  ln -sfn old starters
  rm -f calls
  grep -qF -- "${2:-$1}" "$table" || fail "not in docs/migration.md: ${2:-$1}"
  bash -c "$1" > /dev/null 2>&1 || fail "the old line: $1"
  mv calls old.calls
}
# new NAME "JUDGE'S OPTIONS" WORDS...: the same by ddlrun, really started, and as a dry run against tests/golden/old_lines.
# DDLRUN_WRITE_GOLDEN=1 writes those anew.
new() {
  local name=$1 options=$2 golden=$DDLRUN_SOURCE_DIR/tests/golden/old_lines/$1.sh
  shift 2
  ln -sfn new starters
  : > calls
  expect 0 '' "$DDLRUN" "$1" --allow-run-as-root "${@:2}"
  # shellcheck disable=SC2086
  python3 "$support/old_lines.py" judge old.calls calls $options > judged 2>&1 || fail "$*: $(cat judged)"
  : > calls
  expect 0 '' env -i PATH="$PATH" HOME=/home/user LD_LIBRARY_PATH=x PYTHONPATH=x ${CUDA_VISIBLE_DEVICES:+CUDA_VISIBLE_DEVICES=x} \
    "$DDLRUN" "$1" --dry-run --run-dir /runs/one "${@:2}"
  [ ! -s calls ] || fail "a dry run started something: $*"
  bash -n out || fail "no script: $*"
  sed -e 's/^#by ddlrun [0-9.]* /#by ddlrun VERSION /' -e "s:$(readlink -f "$DDLRUN"):/opt/ddlrun/bin/ddlrun:g" -e "s:$work:/home/user:g" \
    -e "s/=$here *slot/=localhost slot/" -e "s/= $here\$/= localhost/" -e "s/\"hosts\":\"$here\"/\"hosts\":\"localhost\"/" out > found
  [ -z "${DDLRUN_WRITE_GOLDEN-}" ] || cp found "$golden"
  diff -u "$golden" found || fail "$name differs"
}
here=$(hostname -s)
minsky=(--sockets 2 --cores 10 --smt 8)
small=(--sockets 2 --cores 8)

# PowerAI's Caffe. The mode that the post gave for 8 ranks was for 4: refused, with the words that are right.
old 'mpirun -x PATH -x LD_LIBRARY_PATH -n 8 -rf 4x2x1.rf caffe train --solver=solver.prototxt -gpu 0 -ddl "-mode b:4x1x1 -dev_sync 1"'
ln -sfn new starters
expect_refusal 3 'try: -ddl "-mode b:4x2x1 -dev_sync 1"' "$DDLRUN" launch --allow-run-as-root 4x2x1 ib1,ib2 "${small[@]}" -- \
  caffe train --solver=solver.prototxt -gpu 0 -ddl '-mode b:4x1x1 -dev_sync 1'
sed -i 's/b:4x1x1/b:4x2x1/' old.calls
by_hand=rankfile=$rankfiles/4x2x1_2x8_by_hand.txt
caffe=(caffe train --solver=solver.prototxt -gpu 0 -ddl '-mode b:4x2x1 -dev_sync 1')
new caffe_two_hosts "$by_hand" launch 4x2x1 ib1,ib2 "${small[@]}" -- "${caffe[@]}"
sed 's/ slot/   slot/' "$rankfiles/4x2x1_2x8_by_hand.txt" > 4x2x1.rf
new caffe_own_rankfile "$by_hand" launch --rankfile 4x2x1.rf "${small[@]}" -- "${caffe[@]}"

alexnet=(--solver=models/bvlc_alexnet/solver.prototxt)
old 'mpirun -x PATH -x LD_LIBRARY_PATH -n 4 -rf 4x1x1.rf caffe train --solver=models/bvlc_alexnet/solver.prototxt -gpu 0 -ddl "-mode n:4x1x1 -dev_sync 1"'
new alexnet rankfile="$rankfiles/4x1x1_2x8_by_hand.txt" launch 4x1x1 minksy "${small[@]}" -- caffe train "${alexnet[@]}" -gpu 0 -ddl '-mode n:4x1x1 -dev_sync 1'
old 'mpirun -x PATH -x LD_LIBRARY_PATH -n 4 -rf 4x1x1.rf caffe train -lms 800000 --solver=models/bvlc_alexnet/solver.prototxt -gpu 0 -ddl "-mode n:4x1x1 -dev_sync 1"'
new alexnet_lms rankfile="$rankfiles/4x1x1_2x8_by_hand.txt" launch 4x1x1 minksy "${small[@]}" -- caffe train -lms 800000 "${alexnet[@]}" -gpu 0 -ddl '-mode n:4x1x1 -dev_sync 1'
old 'caffe train --solver=models/bvlc_alexnet/solver.prototxt -gpu all'
new caffe_all_gpus '' launch 1 localhost "${minsky[@]}" -- caffe train "${alexnet[@]}" -gpu all
old 'caffe train -lms 800000 --solver=models/bvlc_alexnet/solver.prototxt -gpu all'
new caffe_all_gpus_lms '' launch 1 localhost "${minsky[@]}" -- caffe train -lms 800000 "${alexnet[@]}" -gpu all
old 'mpirun -x PATH -x LD_LIBRARY_PATH -n 12 -rf 4x3.rf caffe train -solver /data/mnist/lenet_solver.prototxt -gpu 0 -bvlc -ddl "-mode n:4x3x1 -dev_sync 1"'
new lenet_three_hosts '' launch 4x3x1 h1,h2,h3 "${minsky[@]}" -- caffe train -solver /data/mnist/lenet_solver.prototxt -gpu 0 -bvlc -ddl '-mode n:4x3x1 -dev_sync 1'
old 'mpirun -x PATH -x LD_LIBRARY_PATH -x PYTHONPATH -n 8 -rf 4x2.rf python ddl_mnist.py'
new ddl_mnist rankfile="$rankfiles/4x2x1_2x10.rf" launch 4x2 sys-89074,sys-89075 "${minsky[@]}" -x PYTHONPATH --framework ddl -- python ddl_mnist.py

# A supercomputing centre's page; its 4 ranks stand in the script's select line.
four=models/intel_optimized_models/multinode/alexnet_4nodes/solver.prototxt
old "mpirun -PSM2 -prepend-rank caffe train --solver ./$four" 'mpirun -PSM2 -prepend-rank caffe train --solver ./models/intel_optimized_models/multinode/alexnet_4nodes/solver.prototxt'
new intel_caffe ranks=4 launch --framework intel-caffe --rank-output prefix 1x4x1 n1,n2,n3,n4 --sockets 1 --cores 68 -- caffe train --solver ./$four

# Notes on distributed TensorFlow: two unequal hosts, a card of its own for each worker.
cat > bin/ssh << 'SSH'
#!/bin/bash
echo ddlrun-topology-follows
exec cat "topology-${*: -2:1}"
SSH
chmod +x bin/ssh
xml=$DDLRUN_SOURCE_DIR/tests/data/topologies/x86_2pkg_4core_smt2_2gpu_one_package.xml
$DDLRUN topo --topology "$xml" --json > topology-192.168.0.80
python3 -c 'import json; m = json.load(open("topology-192.168.0.80")); m["gpus"] = m["gpus"][:1]; json.dump(m, open("topology-192.168.0.20", "w"))'
cluster='--ps_hosts=192.168.0.20:2222,192.168.0.80:2222 --worker_hosts=192.168.0.20:2223,192.168.0.80:2223,192.168.0.80:2224'
old "python distributed_mnist.py $cluster --job_name=ps --task_index=0; python distributed_mnist.py $cluster --job_name=ps --task_index=1
  python distributed_mnist.py $cluster --job_name=worker --task_index=0
  CUDA_VISIBLE_DEVICES=0 python distributed_mnist.py $cluster --job_name=worker --task_index=1
  CUDA_VISIBLE_DEVICES=1 python distributed_mnist.py $cluster --job_name=worker --task_index=2" \
  'python distributed_mnist.py --ps_hosts=... --worker_hosts=... --job_name=... --task_index=...'
new tensorflow_ps '' launch --ps 2 --workers 3 192.168.0.20,192.168.0.80 --visible-gpus all -- python distributed_mnist.py
cards=$(grep -o '{"schema":"ddlrun.ranks.*' out | python3 -c 'import json, sys
rank_map = json.load(sys.stdin)
print(*[rank.get("gpu", "-") for kind in rank_map["kind_of_host"] for rank in rank_map["kinds"][kind]])')
[ "$cards" = '- 0 - 0 1' ] || fail "the cards of ps, worker on .20 and of ps, workers on .80: $cards"
old 'CUDA_VISIBLE_DEVICES=0 python source.py'
export CUDA_VISIBLE_DEVICES=0
new one_gpu passed=CUDA_VISIBLE_DEVICES launch 1 localhost "${minsky[@]}" -x CUDA_VISIBLE_DEVICES -- python source.py
unset CUDA_VISIBLE_DEVICES

# Horovod: HorovodRunner's np, its timeline and its interfaces (--interface, which asks the hosts: tests/cluster); horovodrun.
old 'horovodrun -np 8 -H h1:4,h2:4 python train.py'
new horovodrun '' launch -H h1:4,h2:4 "${minsky[@]}" -- python train.py
old 'horovodrun -np 6 -H h1:4,h2:2 python train.py' 'horovodrun -np 8 -H h1:4,h2:4 python train.py'
new horovodrun_unequal '' launch -H h1:4,h2:2 "${minsky[@]}" -- python train.py
old 'python train.py; python train.py' 'HorovodRunner(np=2).run(train)'
new runner_np '' launch --np 2 h1,h2 "${minsky[@]}" -- python train.py
old 'for i in 1 2 3 4; do python train.py; done' 'HorovodRunner(np=-4)'
new runner_here '' launch --np -4 "${minsky[@]}" -- python train.py
export HOROVOD_TIMELINE=/dbfs/ml/horovod-timeline/horovod_timeline.json
old 'for i in 1 2 3 4; do python train.py; done' "os.environ['HOROVOD_TIMELINE'] = ..."
unset HOROVOD_TIMELINE
new timeline passed=HOROVOD_TIMELINE launch --np 4 h1,h2 "${minsky[@]}" --timeline-filename /dbfs/ml/horovod-timeline/horovod_timeline.json -- python train.py
export OMPI_MCA_btl_tcp_if_include=eth0 NCCL_SOCKET_IFNAME=eth0
old 'for i in 1 2; do python train.py; done' "os.environ['OMPI_MCA_btl_tcp_if_include'] = 'eth0'"
unset OMPI_MCA_btl_tcp_if_include NCCL_SOCKET_IFNAME
new interfaces passed=OMPI_MCA_btl_tcp_if_include,NCCL_SOCKET_IFNAME launch --np 2 h1,h2 "${minsky[@]}" -x OMPI_MCA_btl_tcp_if_include=eth0 -x NCCL_SOCKET_IFNAME=eth0 -- python train.py
# mpirun without binding, hydra's -ppn, a hostfile with slots, and torchrun, whose ranks get its variables.
printf 'h1 slots=4\nh2 slots=4\n' > hosts
printf 'h1:2\nh2:2\n' > hydra.hosts
printf 'import torch.distributed\n' > train_ddp.py
old 'mpirun -np 2 -bind-to none solver'
new bind_none '' launch 2 localhost "${small[@]}" -bind-to none -- solver
grep -q '"unbind":true' found || fail "-bind-to none: the ranks are bound"
old 'mpirun -np 8 --hostfile hosts -x LD_LIBRARY_PATH -bind-to core solver'
new slots_packed '' launch -n 8 --hostfile hosts --order packed --bind-to core "${small[@]}" -- solver
new slots_at_file '' launch -n 8 @hosts --order packed "${small[@]}" -- solver
old 'mpiexec.hydra -f hydra.hosts -ppn 2 -n 4 solver'
new hydra_ppn '' launch 2x2 @hydra.hosts --order packed "${small[@]}" -- solver
new hydra_slots '' launch -n 4 --hostfile hydra.hosts --order packed "${small[@]}" -- solver
old 'for i in 1 2; do python train_ddp.py; done' 'torchrun --standalone --nproc_per_node=2 train_ddp.py'
new torchrun_here '' launch 2 localhost "${small[@]}" --master-port 29431 -- python train_ddp.py
old 'for i in 1 2 3 4; do python train_ddp.py; done' \
  'torchrun --nnodes=2 --nproc_per_node=2 --node_rank=0 --master_addr=h1 --master_port=29500 train_ddp.py'
new torchrun_hosts '' launch 2x2 h1,h2 "${small[@]}" --master-port 29500 -- python train_ddp.py
grep -q '^rank 1=h1 ' found && grep -q '"RANK":"{rank}"' found || fail "torchrun: ranks are not numbered as torchrun does"
# The page names only commands and options that exist, in the lines that are not run here too.
python3 - "$DDLRUN" "$table" << 'END' || fail "docs/migration.md names what ddlrun does not have"
import re, subprocess, sys
ddlrun, table = sys.argv[1:]
lines = re.findall(r"`(ddlrun [a-z][^`]*)`", open(table).read())
unknown = 0
for line in lines:
    words = line.split(" -- ")[0].split()
    if words[1].startswith("-"):
        continue
    help = subprocess.run([ddlrun, words[1], "--help"], capture_output=True, text=True).stdout
    for word in [w.split("=")[0] for w in words[2:] if re.match(r"--?[a-z]", w)]:
        if not re.search(r"(^|[\s,])" + re.escape(word) + r"([\s,=]|$)", help, re.M):
            unknown += 1
            print(f"{word} is not an option of ddlrun {words[1]}: {line}")
sys.exit(unknown > 0 or len(lines) < 20)
END

# The centre's PBS script by its profile: the same request.
expect 0 '#PBS -l select=4:ncpus=68' "$DDLRUN" submit --pbs --site kisti-nurion --application caffe --queue normal 1x4x1 \
  --walltime 4h --workdir /scratch/u --dry-run -- caffe train --solver=solver.prototxt
finish
