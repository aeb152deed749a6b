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
expect 0 "test accuracy $wanted %" "$train" test "$work/resnet"
grep -q "(the data of the checkpoint's training)" "$work/out" || fail "other data: $(head -1 "$work/out")"
expect_refusal 3 'there is no checkpoint here' "$train" test "$work"
expect_refusal 3 'there is no checkpoint here' "$train" test "$work/lenet5/bset"
grep -q "try: ddl-train test $work/lenet5   # takes the newest" "$work/err" || fail "no remedy for a name beside checkpoints: $(cat "$work/err")"
expect_refusal 2 'test takes one checkpoint' "$train" test
expect_refusal 3 'classes, the checkpoint has 4' "$train" test "$work/resnet" --data "$subset"

# PyTorch, where it is installed.
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import torch, numpy, yaml' 2> /dev/null && python=$candidate && break
done
if [ -n "$python" ]; then
  "$python" "$loader" --help | grep -q 'ckpt/best' || fail 'no help of the loader'
  for net in lenet5 caffe mlp; do
    place=$work/$net
    [ "$net" != caffe ] || place=$(ls "$work/$net"/*.safetensors | tail -n 1)
    [ "$net" != mlp ] || place=$place/best
    "$train" test "$place" --data "$subset" > "$work/ours"
    "$python" "$loader" "$place" "$subset" > "$work/theirs" 2> "$work/err" || fail "PyTorch: $(tail -3 "$work/err")"
    [ "$(grep -o 'test accuracy [0-9.]* %' "$work/ours")" = "$(grep -o 'test accuracy [0-9.]* %' "$work/theirs")" ] ||
      fail "$net: $(cat "$work/ours" "$work/theirs")"
  done
  # Batch norm, LRN and average pooling: one batch, the same numbers.
  for net in resnet-18 cifar-quick alexnet; do
    size=64
    [ "$net" != cifar-quick ] || size=32
    [ "$net" != alexnet ] || size=227
    expect 0 'ok net' "$train" --data synthetic:3x${size}x${size}x4:16 --net "$net" --batch-size 8 --max-steps 1 --checkpoint "$work/t-$net" --quiet
    "$python" - "$loader" "$work/t-$net" "$size" > "$work/out" 2> "$work/err" << 'PY' || fail "PyTorch: $net: $(tail -3 "$work/err")"
import importlib.util, sys
import torch
spec = importlib.util.spec_from_file_location("loader", sys.argv[1])
loader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loader)
metadata, tensors = loader.read_checkpoint(loader.find_checkpoint(sys.argv[2]))
size = int(sys.argv[3])
assert loader.Net(metadata, tensors).eval()(torch.zeros(2, 3, size, size)).shape == (2, 4)
PY
  done
else
  echo 'not compared with PyTorch: no Python with torch, numpy and yaml (apt-get install python3-torch python3-yaml)'
fi

# Lists, whose names begin at the list or where the training was called: the test works from another directory.
picture() { mkdir -p "$(dirname "$1")" && { printf 'P5 28 28 255\n'; head -c 784 /dev/zero | tr '\0' "$2"; } > "$1"; }
for i in 1 2 3 4; do
  picture "$work/listed/black/$i.pgm" "\\00$i"
  picture "$work/listed/white/$i.pgm" "\\37$i"
  printf '%s\n' "black/$i.pgm 0" "white/$i.pgm 1" >> "$work/listed/train.txt"
  printf '%s\n' "listed/black/$i.pgm 0" "listed/white/$i.pgm 1" >> "$work/from_here.txt"
done
cp "$work/listed/train.txt" "$work/listed/val.txt"
mkdir -p "$work/lists" && mv "$work/from_here.txt" "$work/lists/"
train_on() { (cd "$work" && "$train" --data "$1" --test-data "$2" --net lenet5 --batch-size 4 --epochs 2 --checkpoint "$3" --quiet); }
expect 0 'ok net' train_on listed/train.txt listed/val.txt beside
expect 0 'ok net' train_on lists/from_here.txt lists/from_here.txt called
for place in beside called; do
  expect 0 "(the data of the checkpoint's training)" "$train" test "$work/$place"
  grep -q 'of 4' "$work/out" || fail "$place: not all images of the list: $(cat "$work/out")"
done

# Grey pictures of two classes, in directories of a class too, for a net with ten outputs.
for part in train val; do
  for i in 1 2 3 4 5 6 7 8; do
    picture "$work/grey/$part/black/s$((i % 2))/$i.pgm" "\\00$((i % 7))"
    picture "$work/grey/$part/white, \"bright\"/s$((i % 2))/$i.pgm" "\\37$((i % 7))"
  done
done
wide=$(dirname "$0")/../../examples/caffe/lenet_train_test.prototxt
expect 0 'ok net=LeNet' "$train" --net "$wide" --data "$work/grey" --batch-size 4 --epochs 8 --checkpoint "$work/wide"
grep -q ' 16 + 16 images of 28x28, 2 classes' "$work/err" || fail "not all depths: $(cat "$work/err")"
expect 0 's0/2.pgm: black ' "$train" predict "$work/wide" "$work/grey/val" --top 10
[ "$(wc -l < "$work/out")" = 16 ] || fail "not 16 pictures: $(cat "$work/out")"
grep -q '%.*%.*%' "$work/out" && fail "an output that was never trained: $(cat "$work/out")"
expect 0 '"classes":[{"name":"black"' "$train" predict "$work/wide" "$work/grey/val/black/s0/2.pgm" --json
expect 0 '/2.pgm,black,' "$train" predict "$work/wide" "$work/grey/val/black" --csv
[ "$(head -1 "$work/out")" = 'file,class,probability,directory_class,black,"white, ""bright"""' ] || fail "CSV: $(head -2 "$work/out")"
python3 -c 'import csv, sys; rows = list(csv.DictReader(open(sys.argv[1]))); assert len(rows) == 8 and all(r["class"] == r["directory_class"] == "black" and abs(float(r["black"]) + float(r["white, \"bright\""]) - 1) < 0.00001 for r in rows)' \
  "$work/out" || fail "the table is another: $(cat "$work/out")"
expect_refusal 2 'two formats' "$train" predict "$work/wide" --csv --json "$work/grey/val"
expect_refusal 2 'no effect' "$train" predict "$work/wide" --csv --top 2 "$work/grey/val"
expect 0 '  black            100.00 %  100.00 %  100.00 %  8 of 8' "$train" test "$work/wide" --data "$work/grey"
[ "$(wc -l < "$work/out")" = 8 ] || fail "classes without images or names: $(cat "$work/out")"
expect 0 '"confusion":[[8,0],[0,8]]' "$train" test "$work/wide" --data "$work/grey" --json
# One tree that --val-fraction splits: PyTorch tests the same photos; without any it is a plain message.
if [ -n "$python" ]; then
  cp -r "$work/grey/train" "$work/tree"
  expect 0 'ok net' "$train" --data "$work/tree" --val-fraction 0.4 --net lenet5 --batch-size 2 --epochs 2 --checkpoint "$work/divided" --quiet
  expect 0 'test accuracy' "$train" test "$work/divided"
  read -r _ _ ours _ _ _ count _ < "$work/out"
  expect 0 "test accuracy $ours %: $count images" "$python" "$loader" "$work/divided" "$work/tree"
  [ "$count" -gt 1 ] && [ "$count" -lt 16 ] || fail "$count images are no part of 16"
  mkdir -p "$work/empty/val/black"
  expect 1 'no test photos of the classes black, white' "$python" "$loader" "$work/divided" "$work/empty"
  grep -q Traceback "$work/err" && fail 'a traceback instead of a message'
fi

# The newest is damaged: a warning names it and the one that is used. A damaged or a missing file: the same command on its
# directory.
damaged=$(ls "$work/wide"/ckpt-*.safetensors | tail -n 1)
intact=$(ls "$work/wide"/ckpt-*.safetensors | tail -n 2 | head -n 1)
cp "$damaged" "$work/kept"
printf XXXX | dd of="$damaged" bs=1 seek=200000 conv=notrunc status=none
for words in "test $work/wide --data $work/grey" "predict $work/wide $work/grey/val/black/s0/2.pgm"; do
  # shellcheck disable=SC2086 # words without blanks
  expect 0 "warning: a newer checkpoint was skipped; this is of $intact" "$train" $words
  grep -q "at: .*${damaged##*/}: the tensor .* is damaged" "$work/err" || fail "not named: $(cat "$work/err")"
done
for file in "$damaged" "$work/wide/ckpt-999999.safetensors"; do
  expect 3 "try: ddl-train test $work/wide --data $work/grey " "$train" test "$file" --data "$work/grey"
  expect 3 "try: ddl-train predict $work/wide $work/grey/val " "$train" predict "$file" "$work/grey/val"
done
mv "$work/kept" "$damaged"
expect 0 '' "$train" test "$work/wide" --data "$work/grey"
grep -q warning "$work/err" && fail "a warning on intact checkpoints: $(cat "$work/err")"
# Pictures that are not read: named, the others are printed, and the status says it.
touch "$work/grey/val/black/s0/a.webp" "$work/grey/val/black/b.tif"
expect 3 's0/2.pgm: black ' "$train" predict "$work/wide" "$work/grey/val/black"
grep -q '2 images are of formats that are not read: b.tif, a.webp' "$work/err" || fail "not named: $(cat "$work/err")"
# All that are damaged, not only the first.
head -c 300 "$work/grey/train/black/s0/2.pgm" > "$work/grey/train/black/s0/8.pgm"
: > "$work/grey/val/black/s1/9.pgm"
for all in '' --all; do
  # shellcheck disable=SC2086 # one word or none
  expect 1 '2 of 33 image files cannot be read' "$train" read-data "$work/grey" --seconds 0.1 $all
  [ "$(grep -c 'pgm: ' "$work/out")" = 2 ] || fail "not both: $(cat "$work/out")"
done
rm "$work/grey/train/black/s0/8.pgm" "$work/grey/val/black/s1/9.pgm"
expect 0 '31 image files, none damaged' "$train" read-data "$work/grey" --all

# A training that is too short for its photos, whatever its steps.
expect 0 'better than guessing (50.0 % of 2 classes, 16 images)' "$train" --data "$work/grey" --epochs 1 --lr 1e-9
expect 0 'try: --epochs 30' "$train" --data "$work/grey" --epochs 1 --lr 1e-9
expect 0 'try: --max-steps 6' "$train" --data "$work/grey" --max-steps 2 --lr 1e-9

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
  expect 0 "32 images of $work/photos/val " env -C / "$train" test "$work/ckpt"
  expect 0 '  cat  100.00 %  100.00 %  100.00 %  16 of 16' "$train" test --checkpoint "$work/ckpt/best" --data "$work/photos/val"
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
  # One tree: the same photos are the tests of both ranks, of a resumed run and of `test`.
  tree=("$train" --data "$work/photos/train" --val-fraction 0.25 --global-batch 16 --net cifar-quick --checkpoint "$work/part")
  expect 0 'ok net' ranks 2 "${tree[@]}" --epochs 1
  tested=$(grep -o '[0-9]* + [0-9]* images' "$work/err" | head -1)
  sum=${tested% images}
  [ "$((${sum/+/ + }))" = 128 ] || fail "not all photos: $tested"
  expect 0 'ok net' ranks 1 "${tree[@]}" --epochs 2 --resume
  grep -q "$tested" "$work/err" || fail "another part: $(head -3 "$work/err")"
  expect 0 "${tested#*+ } of " "$train" test "$work/part" --data "$work/photos/train" --errors
  grep -q 'only the photos that --val-fraction 0.25 kept' "$work/err" || fail "no word on the part: $(cat "$work/err")"
  grep -Eq '^  .*/photos/train/(cat|dog)/[0-9]+\.jpg: (cat|dog), predicted as |^no image has a wrong' "$work/out" || fail "--errors: $(cat "$work/out")"
  expect 0 '128 images of ' "$train" test "$work/part" --data "$work/photos/train" --all-images
  expect_refusal 3 'with --val-fraction 0.25, but this run is without it' "$train" --data "$work/photos" --global-batch 16 \
    --net cifar-quick --checkpoint "$work/part" --epochs 3 --resume
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
  expect_refusal 2 'no photo is named' "$train" predict "$work/ckpt"
  expect_refusal 2 'no photo is named' "$train" predict "$work/ckpt/best"
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
expect 0 'the net diverges: the mean loss is ' "$train" --data "$subset" --lr 3 --epochs 8 --quiet
expect 0 'ok net' "$train" --data "$subset" --epochs 8 --quiet
grep -q 'learned nothing' "$work/err" && fail "a training that learns is warned of: $(cat "$work/err")"
finish
