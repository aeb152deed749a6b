#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that stops, dies, leaves or calls something else inside a sum: the others are told which, soon, and end.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/lost_rank}

expect 0 'all sums are made' ranks 3 "$program" none
# fate, text that rank 0 or 2 must print, most seconds
while read -r fate seconds text; do
  start=$(date +%s)
  run ranks 3 "$program" "$fate"
  took=$(($(date +%s) - start))
  [ "$status" -ne 0 ] || fail "$fate: status 0"
  grep -q 'told after' "$work/err" || fail "$fate: nobody is told: $(head -5 "$work/err")"
  grep -q "$text" "$work/err" || fail "$fate: no '$text' in: $(grep -A1 told "$work/err")"
  [ "$took" -le "$seconds" ] || fail "$fate: took $took s, not $seconds"
done << 'END'
stop 12 rank 1 .*has not come
kill 6 rank 1
leave 6 rank 1
shape 6 rank 1
type 6 rank 1
END
finish
