#!/bin/bash
# SPDX-License-Identifier: MIT
# torch_hosts.sh [PYTHON]: PyTorch (Debian's python3-torch, else that of PYTHON; Gloo) on 2 hosts of 2 ranks, by mpirun and by
# ssh alone: DistributedDataParallel learns what one process learns from the whole batch, and each rank has the variables that
# torchrun itself would give it.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
python=${1:-/usr/bin/python3}
$python -c 'import torch.distributed as d; assert d.is_gloo_available()' 2> /dev/null ||
  { echo "skipped: no PyTorch with Gloo (apt-get install python3-torch)"; exit 125; }
[ "$(nproc)" -ge 2 ] || { echo "skipped: two cores are needed"; exit 125; }
lab_up 2
LAB_PATIENCE=600
cp "$lab_tests/../support/torch_hosts.py" "$lab_home/train.py"
cat > "$lab_home/given.py" << 'PROGRAM'
import json, os
with open(f"torchrun/{os.environ['RANK']}.json", "w") as file:
    json.dump({"given": {name: value for name, value in os.environ.items() if name not in os.environ["BEFORE"].split()}}, file)
PROGRAM
mkdir "$lab_home"/{alone,torchrun,openmpi,ssh,ddl}
chown -R 2000:2000 "$lab_home"/{train.py,given.py,alone,torchrun,openmpi,ssh,ddl}

$python -c 'import torch; print("PyTorch", torch.__version__)'
# The judges: one process, and torchrun's own agents, one a host. Without --redirects and --tee for a rank that is not
# there, the torchrun of PyTorch 1.13 fails under Python 3.11.
on node1 $python train.py alone --alone > "$work/alone" 2>&1 || fail "one process: $(tail -n 3 "$work/alone")"
for host in 1 2; do
  # shellcheck disable=SC2016
  on node$host env OMP_NUM_THREADS=1 bash -c 'BEFORE="$(compgen -e) BEFORE" exec "$@"' bash $python -m torch.distributed.run --nnodes 2 \
    --nproc_per_node 2 --node_rank $((host - 1)) --master_addr 10.1.1.1 --master_port 29400 --redirects 9:1 --tee 9:1 given.py > "$work/torchrun$host" 2>&1 &
done
wait
[ -e "$lab_home/torchrun/3.json" ] || fail "torchrun: $(tail -n 3 "$work"/torchrun?)"

words=(2x2x1 'node[1-2]' --cores-per-rank 1 --strict)
for launcher in openmpi ssh; do
  command -v mpirun > /dev/null || [ $launcher = ssh ] || { echo "no mpirun here: left out"; continue; }
  expect 0 "rank order: host by host, as pytorch assumes" on node1 "$tool" launch "${words[@]}" --launcher $launcher -- \
    $python train.py $launcher
  if $python "$lab_tests/torch_judge.py" "$lab_home/$launcher" "$lab_home/alone" "$lab_home/torchrun" > "$work/judged" 2>&1; then
    echo "$launcher: $(cat "$work/judged")"
  else
    fail "$launcher: $(tail -n 20 "$work/judged")"
  fi
done
# Without an MPI there is no trace of one.
! grep -q '"OMPI_\|"PMIX_\|"PMI_' "$lab_home"/ssh/?.json || fail "by ssh alone a rank has variables of an MPI"

# Numbered over the hosts, neighbouring ranks are not of one host, and PyTorch's groups notice.
expect 1 "ranks are not node-contiguous" on node1 "$tool" launch "${words[@]}" --launcher ssh --order ddl -- $python train.py ddl
finish
