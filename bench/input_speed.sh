#!/bin/bash
# SPDX-License-Identifier: MIT
# How fast images come, without a net: images/s of one thread for each kind of source. Then how long training waits
# for them. usage: input_speed.sh PATH/TO/ddl-train
set -eu
train=$(realpath "${1:?usage: $0 PATH/TO/ddl-train}")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mnist=${DATA:-/usr/share/datasets/fashion-mnist}
python=python3
"$python" -c 'import numpy, PIL' 2> /dev/null || python=/usr/bin/python3

# 600 pictures of 256x256 with the detail of a photograph, as JPEG and as PNG; CIFAR-10's files of noise.
"$python" - "$work" << 'PY'
import os, sys
import numpy as np
from PIL import Image
root = sys.argv[1]
random = np.random.default_rng(1)
for kind in ("jpg", "png"):
    for part, count in (("train", 300), ("val", 20)):
        for label in ("a", "b"):
            os.makedirs(f"{root}/{kind}/{part}/{label}")
            for i in range(count):
                coarse = random.integers(0, 256, (32, 32, 3)).astype(np.uint8)
                fine = np.asarray(Image.fromarray(coarse).resize((256, 256), Image.BICUBIC)).astype(int)
                pixels = np.clip(fine + random.normal(0, 6, fine.shape), 0, 255).astype(np.uint8)
                Image.fromarray(pixels).save(f"{root}/{kind}/{part}/{label}/{i:04}.{kind}")
os.makedirs(f"{root}/cifar")
for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
    records = random.integers(0, 256, (10000, 3073)).astype(np.uint8)
    records[:, 0] %= 10
    records.tofile(f"{root}/cifar/{name}")
PY
"$train" convert-data "$mnist" "$work/mnist_train_lmdb" > /dev/null
"$train" convert-data "$mnist" "$work/mnist_test_lmdb" --split test > /dev/null
"$train" convert-data "$work/jpg/train" "$work/photo_train_lmdb" > /dev/null
"$train" convert-data "$work/jpg/val" "$work/photo_val_lmdb" > /dev/null
du -sk "$work"/jpg/train "$work"/png/train | sed "s#$work/##"

speed() { "$train" read-data "$@" --seconds "${SECONDS_EACH:-3}" | sed "s#$work/##"; }
for threads in 0 1; do
  speed "$mnist" --threads "$threads"
  speed "$work/cifar" --threads "$threads"
  speed "$work/cifar" --threads "$threads" --crop 28 --mirror
  speed synthetic:3x224x224x1000:10000 --threads "$threads"
done
speed "$work/mnist_train_lmdb" --data-memory 0
speed "$work/photo_train_lmdb" --data-memory 0 --crop 224 --mirror
speed "$work/jpg" --data-memory 0 --crop 224 --mirror
speed "$work/jpg" --data-memory 0 --resize 224
speed "$work/png" --data-memory 0 --crop 224 --mirror

# What training waits: one rank with one thread, on two cores; and on one.
waits() { "$@" --json --quiet --threads 1 2> /dev/null | tr -d '\n' | grep -oE '"(images_s|input_percent)": *[0-9.]+' | tr '\n' ' '; }
for cores in 0,1 0; do
  for row in "$mnist lenet5 2000" "$work/mnist_train_lmdb lenet5 2000 --data-memory 0"; do
    # shellcheck disable=SC2086
    set -- $row
    echo "cores $cores, ${1##*/}, $2: $(waits taskset -c "$cores" "$train" --data "$1" --net "$2" --max-steps "$3" "${@:4}")"
  done
  echo "cores $cores, JPEG 224x224, alexnet: $(waits taskset -c "$cores" "$train" --data "$work/jpg" --data-memory 0 \
    --crop 224 --mirror --net alexnet --batch-size 32 --max-steps 12)"
done
