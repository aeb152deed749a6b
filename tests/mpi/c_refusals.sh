#!/bin/bash
# SPDX-License-Identifier: MIT
# What the C interface refuses: no rank may wait for another then.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/c_refusals}

for ranks in 1 2 3; do
  expect 0 'all is refused or summed' ranks "$ranks" timeout 60 "$program"
  said=$(grep -c 'all is refused or summed' "$work/out")
  [ "$said" -eq "$ranks" ] || fail "$ranks ranks: $said of them say so"
done
no_wrong() { ! grep -q '^wrong' "$work/out" || fail "$(grep '^wrong' "$work/out")"; }
expect 1 'calls allocate #1 of 4004 bytes, rank 0 (' ranks 2 timeout 60 "$program" sizes
no_wrong
expect 1 ') gave up: ddl_abandon() (at rank 2 (' ranks 3 timeout 60 "$program" abandon
no_wrong
expect 1 ') gave up: cannot open part-2.bin (at rank 2 (' ranks 3 timeout 60 "$program" abandon \
  $'cannot open part-2.bin\nas root'
no_wrong
finish
