#!/bin/bash
# SPDX-License-Identifier: MIT
# submit_overhead.sh BUILD_DIR: `ddlrun submit --detach` beside a bare `sbatch --parsable` of the very script that it
# writes, ROUNDS (default 20) of each in turn; then the requests that slurmctld counted while a job was followed for
# SECONDS (default 120), as a number an hour. On a lab of 4 hosts with a real Slurm. Needs root.
set -u
DDLRUN=${1:?usage: submit_overhead.sh BUILD_DIR}/bin/ddlrun
export DDLRUN
rounds=${ROUNDS:-20}
follow=${SECONDS_FOLLOWED:-120}
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/lab/lab_test.sh
. "$here/../tests/lab/lab_test.sh"
lab_up 4
slurm up 68 4 > "$work/slurm" 2>&1 || { cat "$work/slurm"; exit 1; }

submit=("$tool" submit --slurm --detach --cores-per-node 68 --threads 1 --walltime 00:01:00 --launcher none
  --doctor off 1x1x1 -- true)
on node1 "${submit[@]}" > "$work/first" 2>&1 || { cat "$work/first"; exit 1; }
# shellcheck disable=SC2016
script=$(on node1 sh -c 'echo "$PWD"/ddlrun-jobs/*/job.sh' | cut -d' ' -f1)
# milliseconds NAME COMMAND...: appends the wall-clock time of a run on node1
milliseconds() {
  local name=$1 start end
  shift
  start=$(date +%s%N)
  on node1 "$@" > "$work/$name.out" 2> "$work/$name.err" || { cat "$work/$name.err"; exit 1; }
  end=$(date +%s%N)
  echo $(((end - start) / 1000)) >> "$work/$name"
}
for ((i = 0; i < rounds; i++)); do
  milliseconds sbatch sbatch --parsable "$script"
  milliseconds submit "${submit[@]}"
done
for name in sbatch submit; do
  sort -n "$work/$name" | awk -v name="$name" '{ all[NR] = $1 } END { printf "%-7s best %.1f ms, median %.1f ms\n", name, all[1] / 1000, all[int((NR + 1) / 2)] / 1000 }'
done
paste <(sort -n "$work/submit") <(sort -n "$work/sbatch") | awk -v middle=$(((rounds + 1) / 2)) \
  'NR == 1 { printf "ratio of the best %.2f", $1 / $2 } NR == middle { printf ", of the medians %.2f\n", $1 / $2 }'

# All requests of the user that slurmctld has counted, but for sdiag's own.
requests() { on node1 sdiag | awk '/^Remote Procedure Call statistics by user/ { in_users = 1; next }
  in_users && /\( *'"$(on node1 id -u)"'\)/ { for (i = 1; i <= NF; i++) if ($i ~ /^count:/) { sub("count:", "", $i); print $i } }'; }
as_root node1 sdiag --reset > /dev/null
on node1 timeout "$follow" "$tool" submit --slurm --cores-per-node 68 --threads 1 --walltime 01:00:00 --launcher none \
  --doctor off 1x1x1 -- sleep 3600 > "$work/followed" 2>&1
counted=$(requests)
echo "followed for $follow s: ${counted:-?} requests (sbatch's and srun's among them), $(awk -v n="${counted:-0}" -v s="$follow" 'BEGIN { printf "%.0f", n * 3600 / s }') an hour"
