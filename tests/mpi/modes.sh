#!/bin/bash
# SPDX-License-Identifier: MIT
# Each mode adds up every kind of sum by its own way, and rightly; ranks with different options are reported
# so at the start, all of them, instead of adding up what no one sent.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/modes}
export DDL_CACHE=off

# m: one sum, one of many tensors, one with its update.
for count in 2 3; do
  while read -r mode by_mpi; do
    DDL_OPTIONS="-mode $mode" expect 0 "rank 0 of $count: 0 wrong" ranks "$count" "$program"
    [ "$(grep -c ": 0 wrong, sums by MPI: $by_mpi\$" "$work/out")" -eq "$count" ] ||
      fail "-mode $mode, $count ranks: $(cat "$work/out")"
  done << 'ROWS'
b 0
r 0
m 3
p 0
ROWS
done

host=$(hostname)
# mpirun stops all ranks when one exits with a status other than 0: each exits after both have written.
delayed_exit=(bash -c '"$@"; status=$?; sleep 2; exit $status' bash "$program")
# unlike OPTIONS OPTIONS WORDS: rank 1 has other options than rank 0; 30 s would be the timeout.
unlike() {
  local begun=$SECONDS
  expect_refusal 1 "rank 1 ($host) was started with $3" \
    pair env DDL_OPTIONS="$1" "${delayed_exit[@]}" -- env DDL_OPTIONS="$2" "${delayed_exit[@]}"
  [ $((SECONDS - begun)) -lt 20 ] || fail "$1 and $2: $((SECONDS - begun)) s"
  [ "$(grep -c 'was started with' "$work/err")" -eq 2 ] || fail "$1 and $2: not reported by both: $(cat "$work/err")"
}
unlike '-mode p' '-mode b' "-mode b, rank 0 ($host) with -mode p"
unlike '-mode m' '-wire bf16' "-mode b -wire bfloat16, rank 0 ($host) with -mode m -wire float32"
unlike '-mode b' '-mode b:1x2' "-mode b:1x2, rank 0 ($host) with -mode b"
unlike '-dump_iter 5' '-timeout 20' "-dump_iter 0, rank 0 ($host) with -dump_iter 5"
DDL_OPTIONS='-wire bf16' expect 0 ': 0 wrong' pair "$program" -- env DDL_OPTIONS='-wire bfloat16 -timeout 20' "$program"

# The trainer's own --grad-dtype, reported once.
trained=("$train" --data "$subset" --max-steps 3 --threads 1)
expect_refusal 3 "was started with -wire float32, rank 0 ($host) with -wire bfloat16" \
  pair "${trained[@]}" --grad-dtype bf16 -- "${trained[@]}" --grad-dtype float32
[ "$(grep -c 'error:' "$work/err")" -eq 1 ] || fail "not reported once: $(cat "$work/err")"
finish
