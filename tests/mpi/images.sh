#!/bin/bash
# SPDX-License-Identifier: MIT
# Images of all kinds, judged by others' programs: decoded pixels by djpeg and pngtopnm, LMDBs written and read by
# Python's lmdb and protobuf's own library. And one set in every form trains to the same bits.
. "$(dirname "$0")/ranks.sh"
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import lmdb, numpy, PIL, google.protobuf' 2> /dev/null && python=$candidate && break
done
[ -n "$python" ] || skip 'no Python with lmdb, numpy, PIL and protobuf; apt-get install python3-lmdb python3-numpy python3-pil python3-protobuf'
for tool in djpeg pngtopnm; do
  command -v "$tool" > /dev/null || skip "no $tool; apt-get install libjpeg-turbo-progs netpbm"
done
judge() { "$python" -B "$(dirname "$0")/images.py" "$@" || fail "$1"; }

# Pixels.
judge make_pictures "$work/pictures"
expect 0 'a directory for each class' "$train" convert-data "$work/pictures/train" "$work/p.lmdb" --channels 3
judge check_pictures "$work/pictures" "$work/p.lmdb"
for size in 17x33 80x96; do
  expect 0 '' "$train" convert-data "$work/pictures/train" "$work/$size.lmdb" --channels 3 --resize "$size"
  judge check_resize "$work/pictures" "$work/$size.lmdb" "${size%x*}" "${size#*x}"
done

# One set, and the same bits out of the training whatever form it has: IDX; LMDBs of pixels, of pictures and of
# floats; ours; from the disk; with crops, mirrors and threads in between.
judge write_caffe_sets "$subset" "$work"
expect 0 '1000 images of 1x28x28' "$train" convert-data "$subset" "$work/ours_train_lmdb"
grep -q "^  try: ddl-train convert-data .* $work/ours_test_lmdb --split test\$" "$work/err" || fail 'no way to the test images'
expect 0 '200 images of 1x28x28' "$train" convert-data "$subset" "$work/ours_test_lmdb" --split test
judge check_converted "$subset" "$work/ours_train_lmdb"
# hash FILE: of the weights at the end
hash() { grep -o '"weights_hash": *"[0-9a-f]*"' "$1" | grep -o '[0-9a-f]\{16\}'; }
for how in "--mean 70 --scale 0.01" "--mean $work/mean.binaryproto --scale 0.00390625 --crop 24 --mirror"; do
  first=
  for data in "$subset" "$work/plain" "$work/plain/mnist_train_lmdb" "$work/png" "$work/float" "$work/ours_train_lmdb"; do
    for memory in 256 0; do
      # shellcheck disable=SC2086
      expect 0 '' "$train" --data "$data" --net mlp --global-batch 40 --max-steps 20 --data-memory "$memory" $how --json --quiet
      found=$(hash "$work/out")
      [ -n "$found" ] || fail "no weights' hash with $data"
      [ "${first:=$found}" = "$found" ] || fail "other weights from $data, $memory MB, $how"
    done
  done
  echo "6 forms of one set, in memory and on the disk: the same weights ($how)"
done

# On 2 ranks the images of a step are the same, crops and mirrors with them.
augmented=(--data "$work/plain" --data-memory 0 --net mlp --global-batch 40 --max-steps 20 --lr 0.005 --lr-decay none
  --crop 24 --mirror --quiet)
expect 0 '' "$train" "${augmented[@]}" --metrics "$work/1.jsonl"
expect 0 '' ranks 2 "$train" "${augmented[@]}" --metrics "$work/2.jsonl"
"$python" - "$work" << 'PY' || fail 'other losses on 2 ranks'
import json, sys
one, two = ([r["loss"] for r in map(json.loads, open(f"{sys.argv[1]}/{n}.jsonl")) if r["type"] == "step"] for n in "12")
assert len(one) == 20
worst = max(abs(a - b) for a, b in zip(one, two))
print(f"augmented, 2 ranks: the losses of 20 steps differ by at most {worst:.1e}")
assert worst < 1e-4
PY

# Each rank with its own part: all of it is used, unequal parts are reported.
for rank in 0 1; do
  mkdir "$work/part-$rank"
done
cp "$subset"/* "$work/part-0"
"$python" -B - "$subset" "$work/part-1" << 'PY' || fail 'no second part'
import gzip, struct, sys
for part, count in (("train", 600), ("t10k", 100)):
    images = gzip.open(f"{sys.argv[1]}/{part}-images-idx3-ubyte.gz").read()
    labels = gzip.open(f"{sys.argv[1]}/{part}-labels-idx1-ubyte.gz").read()
    open(f"{sys.argv[2]}/{part}-images-idx3-ubyte", "wb").write(
        images[:4] + struct.pack(">I", count) + images[8:16 + 784 * count])
    open(f"{sys.argv[2]}/{part}-labels-idx1-ubyte", "wb").write(labels[:4] + struct.pack(">I", count) + labels[8:8 + count])
PY
parts=(--data "$work/part-{rank}" --net mlp --global-batch 40 --epochs 2)
expect 0 'images: rank 0 1000 + 200 for 1 rank(s); rank 1 600 + 100 for 1 rank(s)' ranks 2 "$train" "${parts[@]}" --data-sharding rank
grep -q '1,600 + 300 images' "$work/err" || fail 'the parts are not added up'
grep -q '60 steps, 400 images dropped per epoch' "$work/err" || fail 'not 30 steps an epoch, as the smaller part gives'
expect_refusal 3 'the images of the ranks differ' ranks 2 "$train" "${parts[@]}"
expect_refusal 3 'its images differ from those of the first rank with this subset' ranks 2 "$train" "${parts[@]}" --data-sharding host

# Each rank numbers the class directories that it finds: a label must be one class everywhere.
for class in 0/c0 0/c1 0/c2 1/c1 1/c2; do
  for place in train val; do
    directory=$work/classes-${class%/*}/$place/${class#*/}
    mkdir -p "$directory"
    for image in 1 2 3 4; do printf 'P5\n8 8\n255\n%064d' "$image" > "$directory/$image.pgm"; done
  done
done
classes=(--data "$work/classes-{rank}" --net mlp --global-batch 4)
for split in rank host; do
  expect_refusal 3 'rank 0 and rank 1 give one label to different classes: only rank 0 has c0' \
    ranks 2 "$train" "${classes[@]}" --data-sharding $split
done
expect_refusal 3 'the images of the ranks differ' ranks 2 "$train" "${classes[@]}"
rm -r "$work/classes-0/train/c0"
mv "$work/classes-0/val/c0" "$work"
expect 0 '2 classes' ranks 2 "$train" "${classes[@]}" --data-sharding rank --epochs 1
mkdir "$work/classes-0/train/c0"
cp -r "$work/c0" "$work/classes-0/val"
expect_refusal 3 'the class "c0" has test images in ' "$train" "${classes[@]/\{rank\}/0}"
grep -q "at:  $work/classes-0/train/c0\$" "$work/err" || fail 'the empty directory is not named'

# Refusals.
cp -r "$work/pictures" "$work/cut"
head -c 900 "$work/pictures/train/jpeg/420.jpg" > "$work/cut/train/jpeg/420.jpg"
expect_refusal 3 'the JPEG is damaged or cut short' "$train" --data "$work/cut" --net mlp
grep -q 'cut/train/jpeg/420.jpg' "$work/err" || fail 'the damaged file is not named'
expect_refusal 3 'no test images were found beside the training images' "$train" --data "$work/p.lmdb"
expect_refusal 3 'the directory cannot be created: File exists' "$train" convert-data "$subset" "$work/p.lmdb"
expect_refusal 2 'FROM or TO is missing' "$train" convert-data
# Options that could have no effect: pixels are not decoded.
expect_refusal 3 "--resize 32x32 applies to encoded images; these (MNIST's IDX files) are pixels of 1x28x28" \
  "$train" convert-data "$subset" "$work/none_lmdb" --resize 32
expect_refusal 3 '--channels 3 applies to encoded images' "$train" convert-data "$subset" "$work/none_lmdb" --channels 3
expect_refusal 3 '--resize 4x4 applies to encoded images' "$train" convert-data synthetic:1x8x8x2:10 "$work/none_lmdb" --resize 4
[ ! -e "$work/none_lmdb" ] || fail 'made before it was refused'
expect 0 '200 images of 1x28x28' "$train" convert-data "$subset" "$work/same_lmdb" --split test --resize 28 --channels 1
expect_refusal 2 '' "$train" --data "$subset" --crop 0
expect_refusal 3 'a crop of 32x32 does not fit into images of 28x28' "$train" --data "$subset" --crop 32
finish
