#!/bin/bash
# SPDX-License-Identifier: MIT
# submit_overhead.sh BUILD_DIR: `ddlrun submit --detach` beside a bare `sbatch --parsable` of the very script that it
# writes, ROUNDS (default 20) of each in turn; then the requests that slurmctld counted from its user while a job was
# submitted and followed for SECONDS_AT_FIRST (60), and in SECONDS_FOLLOWED (120) after that, as a number an hour.
# On a lab of 4 hosts with a real Slurm. Needs root.
set -u
DDLRUN=${1:?usage: submit_overhead.sh BUILD_DIR}/bin/ddlrun
export DDLRUN
rounds=${ROUNDS:-20}
begin=${SECONDS_AT_FIRST:-60}
follow=${SECONDS_FOLLOWED:-120}
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/cluster/lab_test.sh
. "$here/../tests/cluster/lab_test.sh"
lab_up 4
slurm up 68 4 > "$work/slurm" 2>&1 || { cat "$work/slurm"; exit 1; }

submit=("$tool" submit --slurm --detach --cores-per-node 68 --threads 1 --walltime 00:01:00 --launcher none
  --doctor off 1x1x1 -- true)
on node1 "${submit[@]}" > "$work/first" 2>&1 || { cat "$work/first"; exit 1; }
# shellcheck disable=SC2016
script=$(on node1 sh -c 'echo "$PWD"/ddlrun-jobs/*/job.sh' | cut -d' ' -f1)
# All runs in one shell of the host, so that getting there is not counted; EPOCHREALTIME starts no process.
cat > "$lab_home/rounds.sh" << 'ROUNDS'
rounds=$1 script=$2
shift 2
timed() { # NAME COMMAND...: appends the microseconds of a run
  local name=$1 start=${EPOCHREALTIME/./}
  "${@:2}" > "$name.out" 2> "$name.err" || { cat "$name.err"; exit 1; }
  echo $((${EPOCHREALTIME/./} - start)) >> "$name.us"
}
for ((i = 0; i < rounds; i++)); do
  timed sbatch sbatch --parsable "$script"
  timed submit "$@"
done
ROUNDS
on node1 bash rounds.sh "$rounds" "$script" "${submit[@]}" || exit 1
for name in sbatch submit; do
  sort -n "$lab_home/$name.us" > "$work/$name"
  awk -v name="$name" '{ all[NR] = $1 } END { printf "%-7s best %.1f ms, median %.1f ms of %d\n", name, all[1] / 1000, all[int((NR + 1) / 2)] / 1000, NR }' "$work/$name"
done
paste "$work/submit" "$work/sbatch" | awk -v middle=$(((rounds + 1) / 2)) \
  'NR == 1 { printf "ratio of the best %.2f", $1 / $2 } NR == middle { printf ", of the medians %.2f\n", $1 / $2 }'

# All requests of the user that slurmctld has counted since the last reset.
requests() { on node1 sdiag | awk '/^Remote Procedure Call statistics by user/ { in_users = 1; next }
  in_users && /\( *'"$(on node1 id -u)"'\)/ { for (i = 1; i <= NF; i++) if ($i ~ /^count:/) { sub("count:", "", $i); print $i } }'; }
# window SECONDS TEXT
window() {
  as_root node1 sdiag --reset > /dev/null
  sleep "$1"
  local counted
  counted=$(requests)
  echo "$2 $1 s: ${counted:-0} requests, $(awk -v n="${counted:-0}" -v s="$1" 'BEGIN { printf "%.0f", n * 3600 / s }') an hour"
}
LAB_PATIENCE=$((begin + follow + 30)) on node1 "$tool" submit --slurm --cores-per-node 68 --threads 1 --walltime 01:00:00 \
  --launcher none --doctor off 1x1x1 -- sleep 3600 > "$work/followed" 2>&1 &
follower=$!
window "$begin" "submitting and following, the first"
window "$follow" "following, the next"
on node1 sdiag | sed -n '/statistics by message type/,/statistics by user/p' | grep count: | head -n 5
on node1 scancel --me
wait "$follower"
