#!/bin/bash
# SPDX-License-Identifier: MIT
# torch_hook.sh BUILD: images/s of PyTorch's DistributedDataParallel with libddl's hook, and of DistributedOptimizer, beside
# Gloo: the same net, batch and ranks in the same processes, in turn, ROUNDS times (10). NETS ("words images"): a table of words,
# whose step is mostly sums, and two hidden layers for images. WIDTH (2048), BATCH (16) of a rank, STEPS (10) of a turn,
# RANKS (2). MPIRUN: words of the launcher. Needs python3-torch.
set -eu
build=$(readlink -f "${1:?usage: torch_hook.sh BUILD}")
here=$(dirname "$(readlink -f "$0")")
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import torch' 2> /dev/null || { echo 'skipped: no python3-torch' >&2; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export OMP_NUM_THREADS=1 MEETING=$work/meeting PYTHONPATH=$build/python PATH=$build/bin:$PATH GLOG_minloglevel=2 PYTHONDONTWRITEBYTECODE=1
read -ra mpirun <<< "${MPIRUN:-mpirun --oversubscribe --bind-to none}"
for net in ${NETS:-words images}; do
  echo "$net:"
  rm -f "$MEETING"
  "${mpirun[@]}" -n "${RANKS:-2}" "$python" "$here/torch_hook.py" "$net" "${WIDTH:-2048}" "${BATCH:-16}" "${STEPS:-10}" "${ROUNDS:-10}"
done
