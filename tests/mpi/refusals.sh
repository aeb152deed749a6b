#!/bin/bash
# SPDX-License-Identifier: MIT
# An error that all ranks share is printed once, with a remedy; help and typos need no MPI.
. "$(dirname "$0")/ranks.sh"

once() { [ "$(grep -c '^ddl-train: error:' "$work/err")" -eq 1 ] || fail "not exactly one error: $(cat "$work/err")"; }

expect_refusal 2 'did you mean --epochs?' ranks 3 "$train" --epoch 3
once
expect_refusal 2 'the nearest that can: 63 or 66' ranks 3 "$train" --data "$subset" --global-batch 64
once
expect_refusal 3 'exceeds the 1000 training images' ranks 2 "$train" --data "$subset" --global-batch 2000
once
expect_refusal 3 'does not exist' ranks 2 "$train" --data /no/such/place
once
expect_refusal 2 'did you mean cuda?' ranks 2 "$train" --device cud
once
# Ranks that were started differently would meet in the wrong collective.
# shellcheck disable=SC2016
expect_refusal 2 'started with different options' ranks 2 sh -c 'exec "$0" --data "$1" --batch-size $((4 + OMPI_COMM_WORLD_RANK))' "$train" "$subset"
once
expect_refusal 3 'cannot be opened' "$train" --data "$subset" --metrics /no/such/place/m.jsonl
expect 0 'usage: ddl-train' ranks 2 "$train" --help
[ "$(grep -c '^usage:' "$work/out")" -eq 1 ] || fail 'the help is printed more than once'
expect 0 'usage: ddl-train' "$train" -h
expect 0 'ddl-train ' "$train" --version

# A net of the program, printed, is the same net; an option without effect is reported.
expect 0 'name: conv1' "$train" print-net lenet5
cp "$work/out" "$work/printed.yaml"
expect 0 'Keys of a layer' "$train" print-net
expect_refusal 2 "unknown net 'lenet6'" "$train" print-net lenet6
expect 0 ' net=printed ' "$train" --net "$work/printed.yaml" --data "$subset" --max-steps 2 --trust-coefficient 5
grep -q 'options without effect in this run: --trust-coefficient 5 ' "$work/err" || fail "nothing about --trust-coefficient: $(cat "$work/err")"
printed=$(sed -n 's/.* hash=\([0-9a-f]*\).*/\1/p' "$work/out")
expect 0 " hash=$printed" "$train" --net lenet5 --data "$subset" --max-steps 2

# Damaged data, met through the program.
mkdir "$work/data"
cp "$subset"/*.gz "$work/data/"
head -c 1000 "$subset/train-images-idx3-ubyte.gz" > "$work/data/train-images-idx3-ubyte.gz"
expect_refusal 3 'ends early' "$train" --data "$work/data"
zcat "$subset/train-images-idx3-ubyte.gz" | head -c 5000 > "$work/data/train-images-idx3-ubyte"
expect_refusal 3 'declares 1000x28x28 = 784000 bytes, but 4984 follow' "$train" --data "$work/data"
cp "$subset/train-labels-idx1-ubyte.gz" "$work/data/train-images-idx3-ubyte"
expect_refusal 3 'images need 3 IDX dimension(s), but this file has 1' "$train" --data "$work/data"
rm "$work/data/train-images-idx3-ubyte" "$work/data/train-images-idx3-ubyte.gz"
expect_refusal 3 'train-images-idx3-ubyte[.gz] is missing' "$train" --data "$work/data"
finish
