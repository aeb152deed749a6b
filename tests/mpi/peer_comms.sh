#!/bin/bash
# SPDX-License-Identifier: MIT
# The wires of libddl between processes: sums and broadcasts on one to three levels, in DDL and packed order; a rank
# that calls with another count or does not come is named. Hosts are made up.
messages=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/peer_messages}
# shellcheck source=tests/mpi/ranks.sh
. "$(dirname "$(readlink -f "$0")")/ranks.sh"

while read -r count dims order; do
  found=$(ranks "$count" "$messages" "$dims" "$order" sums 2>&1) || fail "$dims $order: $found"
  [ "$found" = "ok $dims" ] || fail "$dims $order: $found"
done << 'ROWS'
2 1x2 ddl
3 1x3 ddl
5 1x5 ddl
4 2x2 ddl
4 2x2 packed
4 1x2x2 ddl
4 4x1 packed
ROWS

# Everyone else on the wire blames the last rank.
while read -r count dims order what expected; do
  found=$(ranks "$count" "$messages" "$dims" "$order" "$what" 2>&1 | sort | xargs) || fail "$dims $order $what: $found"
  [ "$found" = "$expected" ] || fail "$dims $order $what: expected '$expected', found '$found'"
done << 'ROWS'
2 1x2 ddl lost rank 0: lost rank 1 (h1)
3 1x3 ddl lost rank 0: lost rank 2 (h2) rank 1: lost rank 2 (h2)
2 1x2 ddl mismatch rank 0: mismatch rank 1 (h1)
3 1x3 ddl mismatch rank 0: mismatch rank 2 (h2) rank 1: mismatch rank 2 (h2)
ROWS
finish
