#!/bin/bash
# SPDX-License-Identifier: MIT
# On a machine with NVIDIA GPUs: nets train on the GPU as on the CPU, --lms changes where activations wait and no bit of
# the result, and several ranks learn what several ranks of CPUs learn.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
train=${1:?usage: $0 PATH/TO/ddl-train}
subset=$(dirname "$(readlink -f "$0")")/../data/fashion-mnist-subset
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
skip() {
  echo "skipped: $1"
  exit 125
}
command -v nvidia-smi > /dev/null || skip "no nvidia-smi, so no NVIDIA driver"
gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader 2> /dev/null | grep -c '^[0-9]') || skip "nvidia-smi lists no GPU"
command -v python3 > /dev/null || skip "no python3 to compare the curves; apt-get install python3"
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*/\1/p' "$work/out"; }

# on DEVICE NAME OPTION...: trains, the records in NAME.jsonl
on() {
  expect 0 ' weights=equal ' "$train" --device "$1" --metrics "$work/$2.jsonl" --lr-decay none --quiet "${@:3}"
}
# alike NAME NAME MOST: the losses of each step and the last test differ by at most that
alike() {
  python3 - "$work/$1.jsonl" "$work/$2.jsonl" "$3" << 'PY' || fail "$1 and $2 differ"
import json, sys
runs = [[json.loads(line) for line in open(name)] for name in sys.argv[1:3]]
steps = [[r["loss"] for r in run if r["type"] == "step"] for run in runs]
assert len(steps[0]) > 0 and len(steps[0]) == len(steps[1]), steps
worst = max(abs(a - b) for a, b in zip(*steps))
last = abs(runs[0][-1]["test_loss"] - runs[1][-1]["test_loss"])
print(f"{sys.argv[2].rsplit('/', 1)[1]}: losses differ by at most {worst:.1e}, the test by {last:.1e}")
assert worst <= float(sys.argv[3]) and last <= 10 * float(sys.argv[3])
PY
}

# name, most difference of a loss, options: rounding grows with the steps and the layers
while read -r name most options; do
  read -ra words <<< "$options"
  on cpu "$name" "${words[@]}"
  on cuda "$name-cuda" "${words[@]}"
  alike "$name" "$name-cuda" "$most"
  plain=$(hash_of)
  on cuda "$name-again" "${words[@]}"
  [ "$(hash_of)" = "$plain" ] || fail "$name: other weights the second time"
  for kilobytes in 0 64; do
    on cuda "$name-lms" "${words[@]}" --lms "$kilobytes"
    [ "$(hash_of)" = "$plain" ] || fail "$name: other weights with --lms $kilobytes"
  done
done << END
lenet5 1e-3 --data $subset --global-batch 40 --max-steps 50 --epochs 3 --lr 0.005
cifar-quick 1e-3 --net cifar-quick --data synthetic:3x32x32x10:400 --global-batch 40 --max-steps 10 --lr 0.001
alexnet 1e-3 --net alexnet --data synthetic:3x227x227x10:32 --global-batch 8 --max-steps 3 --lr 0.0001
resnet-18 1e-2 --net resnet-18 --data synthetic:3x224x224x10:32 --global-batch 8 --max-steps 3 --lr 0.0001
END

on cuda cifar-quick-tf32 --net cifar-quick --data synthetic:3x32x32x10:400 --global-batch 40 --max-steps 10 --lr 0.001 --tf32
alike cifar-quick cifar-quick-tf32 2e-2
# A layer of 2^31 values: no memory on a small GPU, above cuDNN's limit on a large one.
expect_refusal 3 '--batch-size' "$train" --device cuda --net cifar-quick --data synthetic:3x32x32x10:66000 --batch-size 66000

expect 0 'device: GPU 0 (' "$train" --device auto --data "$subset" --max-steps 5
grep -q 'CUDA [0-9.]*, cuDNN [0-9.]*' "$work/err" || fail "not which libraries: $(grep net: "$work/err")"
expect_refusal 3 'this rank sees no GPU' env CUDA_VISIBLE_DEVICES= "$train" --device cuda --data "$subset"

# Two ranks that share GPU 0, with and without NCCL between them; and with a GPU each where there are two.
share_gpu=$(dirname "$(readlink -f "$0")")/../support/share_gpu.sh
# on_two DEVICE NAME WORDS COMMAND...: WORDS: how the gradients of the ranks are added
on_two() {
  expect 0 ' weights=equal ' timeout 300 "${@:4}" "$train" --device "$1" --metrics "$work/$2.jsonl" --lr-decay none \
    --data "$subset" --global-batch 40 --max-steps 50 --epochs 3 --lr 0.005
  [ "$1" = cpu ] || grep -q "device: .*$3" "$work/err" || fail "not '$3': $(grep device: "$work/err")"
}
on_two cpu two '' env NCCL=no "$share_gpu" 2
on_two cuda two-shared 'ranks 0 and 1 share GPU 0' env NCCL=no "$share_gpu" 2
alike two two-shared 1e-3
on_two cuda two-nccl 'all-reduce by NCCL' "$share_gpu" 2
alike two two-nccl 1e-3
if [ "$gpus" -ge 2 ]; then
  on_two cuda two-gpus 'all-reduce by NCCL' env GPUS=all "$share_gpu" 2
  alike two two-gpus 1e-3
fi
finish
