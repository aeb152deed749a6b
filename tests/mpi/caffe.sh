#!/bin/bash
# SPDX-License-Identifier: MIT
# Caffe's solver and net files, unchanged: they train, say which of our options won, and are refused with places.
. "$(dirname "$0")/ranks.sh"
root=$(readlink -f "$(dirname "$0")/../..")
subset=$(readlink -f "$subset")
solver=$root/examples/caffe/lenet_solver.prototxt
wrong=$root/tests/golden/prototxt/invalid
cd "$work" || exit 2

value() { sed -n "s/.* $1=\([^ ]*\).*/\1/p" "$work/out"; }
accuracy() { awk -v got="$(value test_accuracy)" -v least="$1" 'BEGIN { exit !(got >= least) }' || fail "accuracy $(value test_accuracy)"; }

expect 0 'ddl-train: ok net=LeNet ranks=1 ' "$train" --solver "$solver" --data "$subset" --total-steps 250
accuracy 0.65
echo "accuracy of LeNet after 250 steps on 1,000 images: $(value test_accuracy)"
grep -q -- '--data .* instead of source examples/mnist/mnist_train_lmdb' "$work/err" || fail 'nothing about --data'
grep -q -- '--total-steps 250 instead of max_iter 10000' "$work/err" || fail 'nothing about --total-steps'
[ -e lenet_snapshots/latest ] || fail 'no snapshot at the end'
first=$(value hash)

# Caffe's own way of writing; two ranks have twice the batch at the rate as written.
expect 0 "hash=$first" "$train" train -solver="$solver" --data "$subset" --total-steps 250 --checkpoint again
expect 0 'ddl-train: ok net=LeNet ranks=2 ' ranks 2 "$train" --solver "$solver" --data "$subset" --total-steps 20 --checkpoint two
grep -q 'batch: 128 = 2 rank(s) x 64; learning rate 0.01 ' "$work/err" || fail "not the solver's rate: $(cat "$work/err")"

# The LMDBs that the net names, in the working directory: the same bits as MNIST's own files.
expect_refusal 3 'examples/mnist/mnist_train_lmdb' "$train" --solver "$solver" --total-steps 1
mkdir -p examples/mnist
for part in train test; do
  expect 0 '' "$train" convert-data "$subset" examples/mnist/mnist_${part}_lmdb --split $part
done
expect 0 "hash=$first" "$train" --solver "$solver" --total-steps 250 --checkpoint lmdb
grep -q "^data: examples/mnist/mnist_train_lmdb (source in the net's file, " "$work/err" || fail "who named the data: $(cat "$work/err")"

# A net alone; refusals, all at once, with places.
expect 0 'ddl-train: ok net=LeNet ' "$train" --net "$root/examples/caffe/lenet_train_test.prototxt" --data "$subset" --max-steps 2
expect_refusal 3 'the first of 10 errors' ranks 2 "$train" --solver "$wrong/solver.prototxt"
for place in solver.prototxt:6:1 solver.prototxt:3:1 solver.prototxt:7:1 solver.prototxt:5:1 train_val.prototxt:5:16 \
             train_val.prototxt:9:53 train_val.prototxt:9:81 train_val.prototxt:11:77 train_val.prototxt:12:39 train_val.prototxt:14:22; do
  grep -qF "$place" "$work/err" || fail "nothing at $place: $(cat "$work/err")"
done
expect_refusal 3 'no/such/solver.prototxt' "$train" --solver no/such/solver.prototxt
expect_refusal 3 'this is a net, not a solver' "$train" --solver "$root/examples/caffe/lenet_train_test.prototxt"
expect_refusal 2 'ddl-train has another option' "$train" train -solver "$solver" -gpu 0
grep -q 'try: --device cuda ' "$work/err" || fail "not the option for GPUs: $(cat "$work/err")"

# The user's number of steps counts: no default number of epochs ends the run before.
for words in "--solver $solver --checkpoint steps" "--net mlp --batch-size 64"; do
  # shellcheck disable=SC2086 # these are words
  expect 0 ' steps=90 ' "$train" $words --data "$subset" --max-steps 90
  grep -q 'done: .* after 90 steps' "$work/err" || fail "$words: not 90 steps: $(cat "$work/err")"
done
expect 0 ' steps=15 ' "$train" --net mlp --batch-size 64 --data "$subset" --max-steps 90 --epochs 1
grep -q -- '--epochs 1 ends before --max-steps 90: the run has 15 steps' "$work/err" || fail "not said what ends first: $(cat "$work/err")"

# Another net beside the solver: the solver's images are not used, and a message says so.
expect 0 'ddl-train: ok net=mlp ' "$train" --solver "$solver" --net mlp --data "$subset" --max-steps 2 --checkpoint other
grep -q -- '--net mlp instead of net examples/caffe/lenet_train_test.prototxt' "$work/err" || fail 'nothing about --net'
finish
