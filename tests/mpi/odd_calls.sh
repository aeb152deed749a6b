#!/bin/bash
# SPDX-License-Identifier: MIT
# Memory is a call too: who does not come to it is missed like in any sum, and no one hangs in MPI's own. A second start
# of MPI is refused, not aborted.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/odd_calls}
host=$(hostname)

# first and second call, how many say so, what is said
while read -r first second count text; do
  begun=$SECONDS
  run timeout 60 "${launcher[@]}" -n 3 sh -c 'exec 2> "$0/said.$OMPI_COMM_WORLD_RANK$PMI_RANK"; exec "$@"' \
    "$work" "$program" "$first" "$second"
  [ $((SECONDS - begun)) -le 20 ] || fail "$first, $second: $((SECONDS - begun)) s"
  said=$(cat "$work"/said.*)
  [ "$(grep -c "reported after $text" <<< "$said")" -ge "$count" ] || fail "$first, $second: '$text' not reported by $count: $said"
  grep -q 'MPI_FINALIZE was invoked' "$work/err" && fail "$first, $second: MPI says: $(head -3 "$work/err")"
done << END
allocate away 2 3 s: rank 1 ($host) has not come to allocate #1 within 3 s
weights away 2 3 s: rank 1 ($host) has not come to allocate #1 within 3 s
allocate leave 2 0 s: rank 1 ($host) makes no more calls, and this is allocate #1
allocate sum 3 0 s: rank 1 ($host) calls all_reduce #1 of 1000 float32 "conv1", rank 0 ($host) calls allocate #1
sum weights 3 0 s: rank 1 ($host) calls allocate #1, rank 0 ($host) calls all_reduce #1 of 1000 float32 "conv1"
again again 3 .*MPI has ended in this process, and starts only once
END
expect 2 'calls MPI_Finalize before its Context has ended' ranks 2 "$3"
expect 0 'allocate is done' ranks 3 "$program" allocate weights
expect 0 'again is done' "$program" again again
finish
