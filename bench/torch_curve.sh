#!/bin/bash
# SPDX-License-Identifier: MIT
# torch_curve.sh DDL_TRAIN [NET [LR]]: 200 steps from the same weights on the same images beside PyTorch: both losses of each
# 20th step and the largest difference (rounding, which grows from step to step). All images are one batch, so that no order matters.
set -eu
train=${1:?usage: torch_curve.sh PATH/TO/ddl-train [NET [LR]]}
net=${2:-lenet5}
lr=${3:-0.02}
here=$(dirname "$(readlink -f "$0")")
data=${DATA:-$here/../tests/data/fashion-mnist-subset}
python=python3
"$python" -c 'import torch, yaml' 2> /dev/null || python=/usr/bin/python3 # the system's, where another stands before it
"$python" -c 'import torch, yaml' 2> /dev/null || { echo 'skipped: no python3-torch or python3-yaml' >&2; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$train" --net "$net" --data "$data" --threads 1 --lr 0 --global-batch 10 --max-steps 1 --quiet --metrics "$work/facts" > /dev/null
images=$(sed -n 's/.*"train_images":\([0-9]*\).*/\1/p' "$work/facts" | head -1)
options=(--net "$net" --data "$data" --threads 1 --global-batch "$images" --epochs 200 --lr-decay none --quiet)
"$train" "${options[@]}" --lr 0 --max-steps 1 --checkpoint "$work/start" > /dev/null
"$train" "${options[@]}" --lr "$lr" --metrics "$work/steps" > /dev/null
sed -n 's/.*"type":"step".*"loss":\([0-9.e+-]*\),.*/\1/p' "$work/steps" > "$work/ours"
OMP_NUM_THREADS=1 "$python" "$here/torch_peer.py" curve "$here/../runtime/models/library/$net.yaml" "$data" 200 \
  "$(find "$work/start" -name '*.safetensors' | head -1)" "$lr" > "$work/theirs"
paste "$work/ours" "$work/theirs" | awk -v net="$net" '
  NR % 20 == 1 { printf "step %3d  ddl-train %.6f  PyTorch %.6f\n", NR, $1, $2 }
  { d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d; if (d / $2 > part) part = d / $2 }
  END { printf "%s: %d steps, largest difference %.2g (%.2g of the loss then)\n", net, NR, most, part; exit !(NR == 200 && most < 0.01) }'
