#!/bin/bash
# SPDX-License-Identifier: MIT
# The host stage on real processes and MPI's shared windows: sums of 2 and 4 ranks, and a rank that stays away.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/node_collectives_ranks}

for count in 1 2 4; do
  expect 0 "0 of $count: all right" ranks "$count" "$program"
  [ "$(grep -c 'all right' "$work/out")" -eq "$count" ] || fail "not all of $count ranks: $(cat "$work/out")"
done
host=$(hostname)
expect 0 "0 of 3: rank 2 ($host) has not come to barrier #5 within 0.5 s" ranks 3 "$program" away
[ "$(grep -c "rank 2 ($host) has not come to barrier #5" "$work/out")" -eq 3 ] || fail "not reported by all: $(cat "$work/out")"
finish
