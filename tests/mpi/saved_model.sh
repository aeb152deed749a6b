#!/bin/bash
# SPDX-License-Identifier: MIT
# A checkpoint without its training: tested and used for photos by ddl-train, and by PyTorch with the same accuracy.
. "$(dirname "$0")/ranks.sh"
loader=$(dirname "$0")/../../examples/pytorch/load_checkpoint.py
accuracy_of() { grep -o 'test_accuracy=[0-9.]*' "$1" | grep -o '[0-9.]*$' | awk '{ printf "%.2f\n", 100 * $1 }'; }

# Nets of every kind of layer: the test of the checkpoint is that of the training.
for net in lenet5 caffe mlp; do
  expect 0 'ok net' ranks 2 "$train" --data "$subset" --net $net --epochs 2 --checkpoint "$work/$net" --quiet
  wanted=$(accuracy_of "$work/out")
  expect 0 "test accuracy $wanted %" "$train" test "$work/$net" --data "$subset"
done
expect 0 'ok net' ranks 1 "$train" --data synthetic:3x64x64x4:64 --net resnet-18 --batch-size 8 --epochs 1 --checkpoint "$work/resnet" --quiet
wanted=$(accuracy_of "$work/out")
expect 0 "test accuracy $wanted %" "$train" test "$work/resnet" --data synthetic:3x64x64x4:64
expect_refusal 3 'there is no checkpoint here' "$train" test "$work"
expect_refusal 2 'test takes one checkpoint' "$train" test
expect_refusal 3 'classes, the checkpoint has 4' "$train" test "$work/resnet" --data "$subset"

# PyTorch, where it is installed.
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import torch, numpy, yaml' 2> /dev/null && python=$candidate && break
done
if [ -n "$python" ]; then
  for net in lenet5 caffe mlp; do
    "$train" test "$work/$net" --data "$subset" > "$work/ours"
    "$python" "$loader" "$(ls "$work/$net"/*.safetensors | tail -n 1)" "$subset" > "$work/theirs" 2> "$work/err" || fail "PyTorch: $(tail -3 "$work/err")"
    [ "$(grep -o 'test accuracy [0-9.]* %' "$work/ours")" = "$(grep -o 'test accuracy [0-9.]* %' "$work/theirs")" ] ||
      fail "$net: $(cat "$work/ours" "$work/theirs")"
  done
else
  echo 'not compared with PyTorch: no Python with torch, numpy and yaml (apt-get install python3-torch python3-yaml)'
fi

# Photos of many sizes, without a word about sizes and nets; classes by name.
pictures=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import PIL' 2> /dev/null && pictures=$candidate && break
done
if [ -n "$pictures" ]; then
  (cd "$work" && "$pictures" - << 'PY') || fail 'no photos'
import os, random
from PIL import Image
random.seed(1)
for split, count in (("train", 64), ("val", 16)):
    for name, colour in (("cat", (200, 60, 60)), ("dog", (60, 60, 200))):
        os.makedirs(f"photos/{split}/{name}")
        for i in range(count):
            size = random.randint(40, 90), random.randint(40, 90)
            noise = Image.effect_noise(size, 60).convert("RGB")
            Image.blend(Image.new("RGB", size, colour), noise, 0.3).save(f"photos/{split}/{name}/{i}.jpg")
PY
  mkdir "$work/photos/train/hats"
  touch "$work/photos/train/cat/1.webp"
  expect 0 'so: --resize 36 --crop 32 --net cifar-quick --clip 5' ranks 2 "$train" --data "$work/photos" --epochs 30 --checkpoint "$work/ckpt"
  for words in 'learning rate 0.005 (--lr 0.0025 x 2 for 2 ranks, --lr-scale linear)' 'the directory "hats" has no files' \
               'the class "cat" is used without 1 .webp'; do
    grep -qF -- "$words" "$work/err" || fail "no '$words': $(head -20 "$work/err")"
  done
  rm -r "$work/photos/train/hats" "$work/photos/train/cat/1.webp"
  expect 0 'test accuracy 100.00 %' "$train" test "$work/ckpt" --data "$work/photos"
  expect 0 '  cat  100.00 %  16 of 16' "$train" test --checkpoint "$work/ckpt/best" --data "$work/photos/val"
  grep -q '^  dog      0     16$' "$work/out" || fail "the confusion matrix: $(cat "$work/out")"
  expect 0 'cat.jpg: cat ' env -C "$work" bash -c 'cp photos/val/cat/3.jpg cat.jpg && cp photos/val/dog/4.jpg dog.jpg && exec "$@"' \
    bash "$train" predict --checkpoint ckpt cat.jpg dog.jpg --top 1
  grep -q '^dog.jpg: dog ' "$work/out" || fail "a dog is $(cat "$work/out")"
  grep -q ',' "$work/out" && fail "--top 1: $(cat "$work/out")"
  # Directories, and one bad file among others.
  head -c 300 "$work/cat.jpg" > "$work/bad.jpg"
  expect 0 'photos/val/cat/9.jpg: cat ' "$train" predict --checkpoint "$work/ckpt/best" "$work/photos/val"
  [ "$(wc -l < "$work/out")" = 32 ] || fail "not 32 photos: $(tail -3 "$work/out")"
  expect 3 'the JPEG is damaged' "$train" predict "$work/ckpt" "$work/bad.jpg" "$work/dog.jpg"
  grep -q '/dog.jpg: dog ' "$work/out" || fail "after a bad file: $(cat "$work/out")"
  expect 0 '"classes":[{"name":"cat","probability":' "$train" predict --checkpoint "$work/ckpt" --json "$work/cat.jpg"
  # An LMDB keeps the names of the classes, so a net that trained on it is tested on the photos.
  expect 0 '128 images' "$train" convert-data "$work/photos" "$work/p_train_lmdb" --resize 36
  expect 0 '32 images' "$train" convert-data "$work/photos" "$work/p_test_lmdb" --resize 36 --split test
  [ "$(cat "$work/p_test_lmdb/classes.txt")" = $'cat\ndog' ] || fail 'no names beside the LMDB'
  expect 0 'ok net' "$train" --data "$work/p_train_lmdb" --crop 32 --net cifar-quick --epochs 2 --checkpoint "$work/ckpt-lmdb" --quiet
  expect 0 '  dog ' "$train" test "$work/ckpt-lmdb" --data "$work/p_test_lmdb"
  expect 0 'photos of other sizes are resized to 36x36' "$train" predict "$work/ckpt-lmdb" "$work/cat.jpg" "$work/dog.jpg"
  expect 0 '  dog ' "$train" test "$work/ckpt-lmdb" --data "$work/photos"
  printf 'cat\nwolf\n' > "$work/p_test_lmdb/classes.txt"
  expect_refusal 3 'the classes of the test images are not those of the training: cat, wolf' "$train" test "$work/ckpt-lmdb" --data "$work/p_test_lmdb"
  mv "$work/photos/val/dog" "$work/photos/val/wolf"
  mv "$work/photos/train/dog" "$work/photos/train/wolf"
  expect_refusal 3 'not those of the training: cat, dog' "$train" test "$work/ckpt" --data "$work/photos"
  expect_refusal 3 'cannot' "$train" predict --checkpoint "$work/ckpt" "$work/no.jpg"
else
  echo 'no photos made: no Python with PIL (apt-get install python3-pil)'
fi
expect_refusal 2 'no photo is named' "$train" predict
expect_refusal 2 'no checkpoint is named' "$train" predict cat.jpg

# The best checkpoint is the one of the epoch with the highest test accuracy, also where saves are due by steps.
for every in epoch 70; do
  expect 0 'ok net' ranks 2 "$train" --data "$subset" --net lenet5 --lr 0.05 --epochs 8 --batch-size 20 --seed 3 \
    --checkpoint "$work/best-$every" --checkpoint-every "$every" --metrics "$work/best.jsonl" --quiet
  highest=$(sed -n 's/.*"type":"epoch".*"test_accuracy":\([0-9.]*\).*/\1/p' "$work/best.jsonl" | sort -g | tail -n 1)
  expect 0 "test accuracy $(awk -v share="$highest" 'BEGIN { printf "%.2f", 100 * share }') %" \
    "$train" test "$work/best-$every/best" --data "$subset"
done
# After a resume a worse epoch does not replace it.
before=$(cat "$work/best-epoch/best")
expect 0 'ok net' ranks 2 "$train" --data "$subset" --net lenet5 --lr 0.000001 --epochs 9 --batch-size 20 --seed 3 \
  --checkpoint "$work/best-epoch" --resume --quiet
[ -s "$work/best-epoch/$before" ] || fail "the best one is gone after a resume: $(ls "$work/best-epoch")"
# Typed alone it explains itself; a training that learns nothing says so.
expect 0 'usage: ddl-train' "$train"
expect 0 'the net has learned nothing' "$train" --data "$subset" --lr 3 --epochs 8 --quiet
expect 0 'ok net' "$train" --data "$subset" --epochs 8 --quiet
grep -q 'learned nothing' "$work/err" && fail "a training that learns is warned of: $(cat "$work/err")"
finish
