#!/bin/bash
# SPDX-License-Identifier: MIT
# ssh_start.sh BUILD_DIR: a rank on each of HOSTS (default 64) virtual hosts with real sshd, started by `ddlrun
# ssh-launch`, beside `ssh HOST true` to the same hosts, 32 at once. ROUNDS (default 5) of each in turn; best, median
# and the ratio. Needs root.
set -u
DDLRUN=${1:?usage: ssh_start.sh BUILD_DIR}/bin/ddlrun
export DDLRUN
hosts=${HOSTS:-64}
rounds=${ROUNDS:-5}
window=32
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/cluster/lab_test.sh
. "$here/../tests/cluster/lab_test.sh"
lab_up "$hosts"

list="node[1-$hosts]"
on node1 "$tool" launch --launcher ssh "1x${hosts}x1" "$list" --sockets 1 --cores 1 --run-dir run -- true \
  > "$work/first" 2>&1 || { tail -5 "$work/first"; exit 1; }
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
  seconds start "$tool" ssh-launch run/start.json
done
sort "$work/status" | uniq -c
for name in bare start; do
  sort -n "$work/$name" | awk -v name="$name" '{ all[NR] = $1 } END { printf "%-7s best %d ms, median %d ms\n", name, all[1], all[int((NR + 1) / 2)] }'
done
paste <(sort -n "$work/start") <(sort -n "$work/bare") | awk -v middle=$(((rounds + 1) / 2)) \
  'NR == 1 { printf "ratio of the best %.2f", $1 / $2 } NR == middle { printf ", of the medians %.2f\n", $1 / $2 }'
