#!/bin/bash
# SPDX-License-Identifier: MIT
# torch_speed.sh DDL_TRAIN: images/s and peak memory of a rank beside PyTorch with the same net, batch and threads, in turn, net by
# net; one rank, and two beside DDP over Gloo. A value is that of the step in the best tenth, over ROUNDS (default 5). NETS
# (default "lenet5 caffe ddl"), STEPS (60), BATCH (64), DATA: a directory for the two (default: the subset in
# tests/data), or SHAPE=3x227x227: random images. DEVICE=cuda: on a GPU,
# in TF32 with TF32=1; the memory of ddl-train is then still the host's. Needs python3-torch and python3-yaml.
set -eu
train=${1:?usage: torch_speed.sh PATH/TO/ddl-train}
here=$(dirname "$(readlink -f "$0")")
rounds=${ROUNDS:-5}
batch=${BATCH:-64}
steps=${STEPS:-60}
data=${DATA:-$here/../tests/data/fashion-mnist-subset}
ours=(--data "$data")
[ -z "${SHAPE:-}" ] || { ours=(--data "synthetic:${SHAPE}x10:$((8 * batch))"); data=$SHAPE; }
python=python3
needed='import torch, yaml, numpy'
"$python" -c "$needed" 2> /dev/null || python=/usr/bin/python3 # the system's, where another stands before it
lacks=$("$python" -c "$needed" 2>&1) || { echo "skipped: no python3-torch, python3-yaml or python3-numpy: ${lacks##*$'\n'}" >&2; exit 125; }
[ "${DEVICE:-cpu}" = cpu ] || "$python" -c 'import torch; assert torch.cuda.is_available()' 2> /dev/null ||
  { echo 'skipped: no PyTorch that finds a GPU (pip install torch)' >&2; exit 125; }
# This process may run on a part of the cores.
read -ra cores < <("$python" -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
[ -z "${TF32:-}" ] || ours+=(--tf32)
export OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# Each appends to FILE: images/s and MiB.
measure_ours() {  # ranks net file
  local start=("$train")
  [ "$1" = 1 ] || start=(mpirun -n "$1" --oversubscribe --bind-to core "$train")
  "${start[@]}" --net "$2" "${ours[@]}" --device "${DEVICE:-cpu}" --threads 1 --quiet --max-steps "$steps" --epochs 999 --batch-size "$batch" \
    --lr 0.001 --metrics "$work/steps" > /dev/null 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
  local bytes
  bytes=$(sed -n 's/.*"type":"summary".*"peak_memory_bytes":\([0-9]*\).*/\1/p' "$work/steps" | tail -1)
  sed -n 's/.*"type":"step".*"images_s":\([0-9.e+]*\),.*/\1/p' "$work/steps" | sort -g |
    awk -v bytes="$bytes" '{ v[NR] = $1 } END { print v[int(NR * 0.9)], bytes / 1048576 }' >> "$3"
}
measure_torch() {  # ranks net file
  local net=$here/../runtime/models/library/$2.yaml place rank
  if [ "$1" = 1 ]; then
    taskset -c "${cores[0]}" "$python" "$here/torch_peer.py" speed "$net" "$data" "$batch" "$steps" >> "$3"
    return
  fi
  place=$(mktemp -u "$work/meet.XXXXXX")
  for ((rank = 1; rank < $1; rank++)); do
    taskset -c "${cores[rank % ${#cores[@]}]}" "$python" "$here/torch_peer.py" ddp "$net" "$data" "$batch" "$steps" "$rank" "$1" "$place" &
  done
  taskset -c "${cores[0]}" "$python" "$here/torch_peer.py" ddp "$net" "$data" "$batch" "$steps" 0 "$1" "$place" >> "$3"
  wait
}
best() { sort -g "$1" | awk 'END { print $1 }'; }
middle() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
memory() { awk '$2 > most { most = $2 } END { print most }' "$1"; }

for ranks in ${RANKS:-1 2}; do
  for net in ${NETS:-lenet5 caffe ddl}; do
    for ((round = 0; round < rounds; round++)); do
      measure_ours "$ranks" "$net" "$work/$net.$ranks.ours"
      measure_torch "$ranks" "$net" "$work/$net.$ranks.torch"
    done
    awk -v net="$net" -v ranks="$ranks" -v a="$(best "$work/$net.$ranks.ours")" -v b="$(best "$work/$net.$ranks.torch")" \
      -v c="$(middle "$work/$net.$ranks.ours")" -v d="$(middle "$work/$net.$ranks.torch")" \
      -v e="$(memory "$work/$net.$ranks.ours")" -v f="$(memory "$work/$net.$ranks.torch")" 'BEGIN {
      printf "%-12s %d rank(s)  ddl-train %8.0f images/s %5.0f MiB   PyTorch %8.0f %5.0f MiB   ratio of the best %.2f, of the medians %.2f\n",
             net, ranks, a, e, b, f, a / b, c / d }'
  done
done
