#!/bin/bash
# SPDX-License-Identifier: MIT
# How sums are made, and where weights are updated, changes no bit; rules go on from a checkpoint to the bit; what is
# refused.
. "$(dirname "$0")/ranks.sh"

common=(--data "$subset" --global-batch 40 --lr 0.005 --max-steps 30 --quiet)
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*$/\1/p' "$work/out"; }

expect 0 'ddl-train: ok' ranks 2 "$train" "${common[@]}" --overlap off --optimizer-placement rank
straight=$(hash_of)
[ -n "$straight" ] || fail 'no hash'
for way in '--overlap off --optimizer-placement host' '--overlap on --bucket-kb 1 --optimizer-placement rank' '--overlap on --bucket-kb 64 --optimizer-placement host' \
  '--overlap across --bucket-kb 16 --optimizer-placement rank' '--overlap across --optimizer-placement host' '--overlap auto' ''; do
  # shellcheck disable=SC2086
  expect 0 "hash=$straight" ranks 2 "$train" "${common[@]}" $way
done
# Four ranks that libddl takes for two hosts: sums over a network, in another but fixed order.
expect 0 'ddl-train: ok' ranks 4 "$train" "${common[@]}" --overlap off --optimizer-placement rank
four=$(hash_of)
expect 0 "hash=$four" ranks 4 "$train" "${common[@]}" --overlap on --bucket-kb 16
expect 0 "hash=$four" ranks 4 "$train" "${common[@]}" --overlap across --test-every 7

# Rules with other state, stopped in the middle and gone on.
for rule in 'adam --lr 0.001' 'nesterov' 'lars --lr 2' 'rmsprop --lr 0.001 --clip 1' 'adadelta --lr 1'; do
  # shellcheck disable=SC2206
  words=("${common[@]}" --lr-decay none --optimizer $rule)
  case $rule in *--lr*) words=(--data "$subset" --global-batch 40 --max-steps 30 --quiet --lr-decay none --optimizer $rule) ;; esac
  expect 0 'ddl-train: ok' ranks 2 "$train" "${words[@]}"
  whole=$(hash_of)
  directory=$work/${rule%% *}
  expect 0 'ddl-train: ok' ranks 2 "$train" "${words[@]/30/17}" --checkpoint "$directory"
  across=on
  case $rule in adam* | nesterov) across=across ;; esac
  expect 0 "hash=$whole" ranks 2 "$train" "${words[@]}" --checkpoint "$directory" --resume --overlap "$across" --bucket-kb 4
done
grep -aq 'optimizer.exp_avg_sq.conv1.weight' "$work/adam/$(cat "$work/adam/latest")" || fail "adam's state is not in the checkpoint"
expect_refusal 3 "optimizer is adam, but this run's is sgd" ranks 2 "$train" "${common[@]}" --resume "$work/adam"
grep -q 'try: --optimizer adam' "$work/err" || fail 'no rule to type'

# Narrow numbers between hosts; one host needs none.
expect 0 "hash=$straight" ranks 2 "$train" "${common[@]}" --grad-dtype bf16 --overlap off
expect 0 'ddl-train: ok' ranks 2 "$train" "${common[@]}" --grad-dtype fp16 --gradient-accumulation 4 --test-every 10

# A learning rate that diverges: reported with its ranks, for each way of summing.
for way in '--overlap off --optimizer-placement rank' '--overlap on --bucket-kb 1 --optimizer-placement host' '--overlap across --bucket-kb 1'; do
  # shellcheck disable=SC2086
  expect_refusal 3 'not finite' ranks 2 "$train" --data "$subset" --lr 1e30 --quiet $way
  grep -q 'rank 0 .*rank 1 ' "$work/err" || fail "not both ranks are named: $(cat "$work/err")"
done

expect 0 'ddl-train: ok' "$train" --data "$subset" --max-steps 2 --lms 100 --tf32
grep -q '^lms: ignored with --device cpu' "$work/err" || fail '--lms is not reported'
grep -q '^tf32: ignored with --device cpu' "$work/err" || fail '--tf32 is not reported'
expect_refusal 2 'needs a step size' "$train" --lr-decay step
expect_refusal 2 'inv needs --lr-gamma' "$train" --lr-decay inv
expect_refusal 2 '5 comes before 3' "$train" --lr-decay multistep --lr-step 5,3
expect_refusal 2 'conflicts with --optimizer adam' "$train" --optimizer adam --nesterov
expect_refusal 2 'is not a number of at least 0 and less than 1' "$train" --momentum 1
expect_refusal 2 'cannot be divided by --gradient-accumulation 3' ranks 2 "$train" "${common[@]}" --gradient-accumulation 3
expect_refusal 2 'need all sums' "$train" --optimizer lars --optimizer-placement host
expect_refusal 2 'before a step ends' "$train" --clip 1 --overlap across
expect_refusal 2 'cannot be used with --overlap off' "$train" --overlap off --bucket-kb 4
finish
