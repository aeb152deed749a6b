#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor_ssh.sh BUILD_DIR: doctor over HOSTS (default 64) virtual hosts with real sshd, beside `ssh HOST true` to the
# same hosts with the same window. ROUNDS (default 5) of each in turn; best, median and the ratio. Needs root.
set -u
DDLRUN=${1:?usage: doctor_ssh.sh BUILD_DIR}/bin/ddlrun
export DDLRUN
hosts=${HOSTS:-64}
rounds=${ROUNDS:-5}
window=${WINDOW:-32}
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/cluster/lab_test.sh
. "$here/../tests/cluster/lab_test.sh"
lab_up "$hosts"

list="node[1-$hosts]"
# shellcheck disable=SC2016
bare='seq "$1" | xargs -P "$2" -I{} ssh -o BatchMode=yes -o ForwardAgent=no -o ForwardX11=no -- node{} true'
# seconds NAME COMMAND...: appends the wall-clock time of a run on node1
seconds() {
  local name=$1 start end
  shift
  start=$(date +%s%N)
  on node1 "$@" > "$work/$name.out" 2> "$work/$name.err"
  echo "$name: status $?" >> "$work/status"
  end=$(date +%s%N)
  echo $(((end - start) / 1000000)) >> "$work/$name"
}
for ((i = 0; i < rounds; i++)); do
  seconds bare bash -c "$bare" bash "$hosts" "$window"
  seconds doctor "$tool" doctor "$list" --fanout "$window"
done
sort "$work/status" | uniq -c
tail -3 "$work/doctor.out"
for name in bare doctor; do
  sort -n "$work/$name" | awk -v name="$name" '{ all[NR] = $1 } END { printf "%-7s best %d ms, median %d ms\n", name, all[1], all[int((NR + 1) / 2)] }'
done
paste <(sort -n "$work/doctor") <(sort -n "$work/bare") | awk -v middle=$(((rounds + 1) / 2)) \
  'NR == 1 { printf "ratio of the best %.2f", $1 / $2 } NR == middle { printf ", of the medians %.2f\n", $1 / $2 }'
