#!/bin/bash
# SPDX-License-Identifier: MIT
# Whatever happens to one rank, the whole job ends with its status, and the rank is named.
. "$(dirname "$0")/ranks.sh"

# One rank without data, before the first step: all know, rank 0 prints.
expect_refusal 3 '[rank 1 ' pair "$train" --data "$subset" -- "$train" --data /no/such/place

# Rank 0 alone fails in the middle: the others wait for it in a reduction.
if [ -w /dev/full ]; then
  expect_refusal 3 'No space left on device' ranks 2 "$train" --data "$subset" --epochs 100000 --quiet --metrics /dev/full
  grep -q '\[rank 0 ' "$work/err" || fail 'the full disk does not name its rank'
fi

# Different images on two ranks.
mkdir "$work/other"
cp "$subset"/*.gz "$work/other/"
cp "$subset/t10k-images-idx3-ubyte.gz" "$work/other/train-images-idx3-ubyte.gz"
cp "$subset/t10k-labels-idx1-ubyte.gz" "$work/other/train-labels-idx1-ubyte.gz"
expect_refusal 3 'the images of the ranks differ' \
  pair "$train" --data "$subset" --batch-size 4 -- "$train" --data "$work/other" --batch-size 4

# A rate at which everything overflows: the guard names the ranks once.
expect_refusal 3 'is not finite' ranks 2 "$train" --data "$subset" --lr 1e30
grep -q 'at:  rank 0 .*, rank 1 ' "$work/err" || fail 'the guard does not name both ranks'

# A rank that is killed takes the job with it.
mkdir "$work/pids"
cat > "$work/rank" << 'RANK'
#!/bin/sh
: > "$1/$$"
shift
exec "$@"
RANK
chmod +x "$work/rank"
# start WORD...: two ranks; `victim` is one of them
start() {
  find "$work/pids" -type f -delete
  ranks 2 "$work/rank" "$work/pids" "$train" --data "$subset" --epochs 100000 --quiet "$@" > "$work/killed" 2>&1 < /dev/null &
  job=$!
  for _ in $(seq 100); do
    [ "$(find "$work/pids" -type f | wc -l)" -lt 2 ] || break
    sleep 0.1
  done
  sleep 1  # into the training
  victim=$(find "$work/pids" -type f -printf '%f\n' | head -1)
  [ -n "$victim" ] || fail 'no rank started'
}
for way in on across; do
  start --net caffe --overlap "$way"
  kill -KILL "$victim"
  wait "$job"
  status=$?
  case $status in
    0 | 124) fail "a killed rank ends the job with $status, --overlap $way" ;;
  esac
done

# One that stops is found out by the other, also while sums of the step before are under way.
for way in on across; do
  DDL_OPTIONS='-timeout 5' start --net caffe --overlap "$way"
  kill -STOP "$victim"
  begun=$(date +%s)
  for _ in $(seq 300); do
    ! grep -q 'rank [01] .*has not come' "$work/killed" || break
    sleep 0.1
  done
  took=$(($(date +%s) - begun))
  kill -CONT "$victim" 2> /dev/null
  wait "$job" && fail "a stopped rank ends the job with 0, --overlap $way"
  grep -q 'rank [01] .*has not come' "$work/killed" || fail "no message names the rank that stopped: $(head -5 "$work/killed")"
  [ "$took" -le 30 ] || fail "the rank that stopped is named after $took s, --overlap $way"
done
finish
