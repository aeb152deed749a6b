#!/bin/bash
# SPDX-License-Identifier: MIT
# A short training on the committed images gets far beyond chance (0.1); one rank needs no mpirun.
. "$(dirname "$0")/ranks.sh"

accuracy() { sed -n 's/.* test_accuracy=\([0-9.]*\) .*/\1/p' "$work/out"; }
above() { awk -v got="$(accuracy)" -v least="$1" 'BEGIN { exit !(got >= least) }' || fail "accuracy $(accuracy) < $1"; }

for net in lenet5 mlp; do
  for count in 1 2; do
    expect 0 "ddl-train: ok net=$net ranks=$count " ranks "$count" "$train" --data "$subset" --net "$net" \
      --epochs 8 --batch-size 20
    above 0.65
    grep -q "weights equal on $count rank" "$work/err" || fail 'no word about the weights'
  done
done
expect 0 'ddl-train: ok net=lenet5 ranks=1 ' "$train" --data "$subset" --epochs 8 --batch-size 20
above 0.65
first=$(sed 's/.*hash=//' "$work/out")
expect 0 "hash=$first" "$train" --data "$subset" --epochs 8 --batch-size 20
expect 0 '"schema":"ddlrun.train/1"' "$train" --data "$subset" --max-steps 3 --json --quiet
[ ! -s "$work/err" ] || fail '--quiet is not quiet'
DDLRUN_DATA=$subset expect 0 '(DDLRUN_DATA' "$train" --max-steps 1
finish
