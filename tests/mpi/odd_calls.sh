#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that make different calls, on one host and on hosts that are UTS namespaces of this machine: the error names both
# calls. Memory is a call too: who does not come to it is missed like in any sum, and no one hangs in MPI's own. A second
# start of MPI is refused, not aborted.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/odd_calls}
host=$(hostname)

# differ FIRST SECOND COUNT TEXT MPIRUN...: how many say TEXT
differ() {
  local first=$1 second=$2 count=$3 text=$4 begun=$SECONDS said
  shift 4
  rm -f "$work"/said.*
  run timeout 60 "${launcher[@]}" "$@" sh -c 'exec 2> "$0/said.$OMPI_COMM_WORLD_RANK$PMI_RANK"; exec "$@"' \
    "$work" "$program" "$first" "$second"
  [ $((SECONDS - begun)) -le 20 ] || fail "$first, $second: $((SECONDS - begun)) s"
  said=$(cat "$work"/said.*)
  [ "$(grep -c "reported after $text" <<< "$said")" -ge "$count" ] || fail "$first, $second: '$text' not reported by $count: $said"
  grep -q 'MPI_FINALIZE was invoked' "$work/err" && fail "$first, $second: MPI says: $(head -3 "$work/err")"
}

while read -r first second count text; do
  beside differ "$first" "$second" "$count" "$text" -n 3
done << END
allocate away 2 [34] s: rank 1 ($host) has not come to allocate #1 of 400 bytes within 3 s
weights away 2 [34] s: rank 1 ($host) has not come to allocate_for_host #1 of 400 bytes within 3 s
allocate leave 2 [01] s: rank 1 ($host) makes no more calls, and this is allocate #1 of 400 bytes
allocate sum 3 [01] s: rank 1 ($host) calls all_reduce #1 (sum) of 1000 float32 "conv1", rank 0 ($host) calls allocate #1 of 400 bytes
allocate more 3 [01] s: rank 1 ($host) calls allocate #1 of 404 bytes, rank 0 ($host) calls allocate #1 of 400 bytes
allocate weights 3 [01] s: rank 1 ($host) calls allocate_for_host #1 of 400 bytes, rank 0 ($host) calls allocate #1 of 400 bytes
sum weights 3 [01] s: rank 1 ($host) calls allocate_for_host #1 of 400 bytes, rank 0 ($host) calls all_reduce #1 (sum) of 1000 float32 "conv1"
sum max 3 [01] s: rank 1 ($host) calls all_reduce #1 (max) of 1000 float32 "conv1", rank 0 ($host) calls all_reduce #1 (sum) of 1000 float32 "conv1"
own own 3 [01] s: rank 1 ($host) calls broadcast #1 (root 1) of 1000 float32 "conv1", rank 0 ($host) calls broadcast #1 (root 0) of 1000 float32 "conv1"
reduce reduce 3 [01] s: rank 1 ($host) calls reduce #1 (sum, root 1) of 1000 float32 "conv1", rank 0 ($host) calls reduce #1 (sum, root 0) of 1000 float32 "conv1"
gather0 scatter 3 [01] s: rank 1 ($host) calls scatter #1 (root 1) of 1000 float32 "conv1", rank 0 ($host) calls gather #1 (root 0) of 1000 float32 "conv1"
again again 3 .*MPI has ended in this process, and starts only once
END
beside expect 2 'calls MPI_Finalize before its Context has ended' ranks 2 "$3"
beside expect 0 'refused is done' ranks 3 "$program" barrier refused
beside expect 0 'again is done' "$program" again again

unshare --uts hostname ddlrun-test 2> /dev/null || { echo 'several hosts need root here (unshare --uts): left out'; finish; exit 0; }
[[ ${launcher[*]} == *--oversubscribe* ]] || { echo 'several hosts need Open MPI here: left out'; finish; exit 0; }
spread=(--mca if_base_do_not_resolve 1 --mca plm_rsh_agent "$here/../support/uts_ssh.sh"
  -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM)
# hosts, ranks, first and second call, how many say so, what is said
while read -r hosts count first second says text; do
  beside differ "$first" "$second" "$says" "$text" "${spread[@]}" --host "$hosts" -n "$count"
done << 'END'
h1:1,h2:1 2 sum max 2 [01] s: rank 1 (h2) calls all_reduce #1 (max) of 1000 float32 "conv1", rank 0 (h1) calls all_reduce #1 (sum) of 1000 float32 "conv1"
h1:1,h2:1 2 sums maxes 2 [01] s: rank 1 (h2) calls all_reduce_n #1 (max) of 1000 float32 "conv1", rank 0 (h1) calls all_reduce_n #1 (sum) of 1000 float32 "conv1"
h1:1,h2:1 2 own own 2 [01] s: rank 1 (h2) calls broadcast #1 (root 1) of 1000 float32 "conv1", rank 0 (h1) calls broadcast #1 (root 0) of 1000 float32 "conv1"
h1:1,h2:1 2 reduce reduce 2 [01] s: rank 1 (h2) calls reduce #1 (sum, root 1) of 1000 float32 "conv1", rank 0 (h1) calls reduce #1 (sum, root 0) of 1000 float32 "conv1"
h1:1,h2:1 2 scatter scatter 2 [0-2] s: rank 1 (h2) calls scatter #1 (root 1) of 1000 float32 "conv1", rank 0 (h1) calls scatter #1 (root 0) of 1000 float32 "conv1"
h1:1,h2:1 2 root0 barrier 2 [01] s: rank 1 (h2) calls barrier #1, rank 0 (h1) calls broadcast #1 (root 0) of 1000 float32 "conv1"
h1:1,h2:1,h3:1 3 root0 own 2 [0-2] s: rank 1 (h2) calls broadcast #1 (root 1) of 1000 float32 "conv1", rank 0 (h1) calls broadcast #1 (root 0) of 1000 float32 "conv1"
h1:1,h2:1,h3:1 3 sum leave 2 [12] s: rank 1 (h2) makes no more calls, and this is all_reduce #1
h1:2,h2:2 4 sum leave 3 [0-2] s: rank 1 (h1) makes no more calls, and this is all_reduce #1
END
beside expect 0 'refused is done' timeout 60 "${launcher[@]}" "${spread[@]}" --host h1:1,h2:1 -n 2 "$program" barrier refused
finish
