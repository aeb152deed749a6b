# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit.sh: what ddlrun refuses, what Slurm refuses, and what waits forever.

scenario_bad_partition() { refused 4 "invalid partition" --queue nowhere 1x1x1; }
scenario_too_many_gpus() { refused 3 "5 GPUs a node are requested, and no node has more than 4" --gpus 5 1x1x1; }
scenario_too_many_cores() {
  refused 3 "1 rank x 69 threads a node need 69 CPUs, and no node has more than 68" --cores-per-node 69 --threads 69 1x1x1
  refused 3 "cores_per_node requests 69 CPUs, and no node has more than 68" --runner ddlrun --oversubscribe yes --cores-per-node 69 70x1x1
}
scenario_too_many_ranks() {
  refused 3 "69 ranks a node need 69 CPUs, and no node has more than 68" 69x1x1
  submit --dry-run 69x1x1 -- true
  ends 0
  says "warning: 69 ranks a node need 69 CPUs"
  prints "#SBATCH --ntasks-per-node=69"
}
scenario_too_much_memory() { refused 4 "" --memory 900GiB 1x1x1; }

refused_by_limit() { # TEXT WORDS...
  refused 3 "$@"
  says "would wait forever"
}

# Slurm takes them, and they would wait forever; status says why. A QOS may permit more than the partition.
waits() { # REASON WORDS...
  begin_never "${@:2}" -- true
  wait_until 10 has_reason "$1" || fail "slurmctld's reason is $(field "$id" Reason), not $1"
  ddl status "$id"
  ends 0
  prints queued
  ddl status "$id" --json
  same "reason" "$1" "$(json 'j["reason"]')"
  [ "$(json 'len(j["explained"])')" -gt 20 ] || fail "$1 is not explained"
  ddl cancel "$id"
}
has_reason() { [ "$(field "$id" Reason)" = "$1" ]; }
# Slurm 22.05 takes it, 24.11 refuses it.
scenario_too_many_nodes() {
  case $(on node1 sinfo --version) in
    *' 22.'* | *' 23.'*) waits PartitionNodeLimit --qos normal 1x5x1 ;;
    *) refused 4 "configuration" --qos normal 1x5x1 ;;
  esac
}
scenario_too_long() { waits PartitionTimeLimit --qos normal --queue short --walltime 2h 1x1x1; }
scenario_above_the_partition() {
  refused_by_limit "2 nodes are requested, and a job in partition single can have 1" --queue single 1x2x1
  refused_by_limit "the walltime is above the limit of partition short, 1:00" --queue short --walltime 2h 1x1x1
}

scenario_mistakes_at_once() {
  run on node1 "$tool" submit --slurm 4x2x1 h1,h2,h3 --walltime 90 --mail nobody -- true
  ends 2
  [ "$(grep -c '^ddlrun: error: ' "$work/err")" -ge 3 ] || fail "not all mistakes: $(cat "$work/err")"
  [ ! -s "$work/out" ] || fail "stdout is not empty"
}
scenario_usage() {
  run on node1 "$tool" submit --slrum 1x1x1 -- true
  ends 2
  says "try: --slurm"
  ddl status x12
  ends 2
  ddl wait
  ends 2
}
scenario_dry_run() {
  small=()
  submit --dry-run 4x2x1 --gpus 4 --cores-per-node 68 --walltime 1h --name dry -- ./train --epochs 3
  ends 0
  says "sbatch --parsable job.sh"
  [ -z "$(find "$lab_home/ddlrun-jobs" -name 'dry-*')" ] || fail "a dry run wrote a directory"
  on node1 bash -c 'cat > dry.sh' < "$work/out"
  on node1 sbatch --test-only dry.sh 2> "$work/test"
  grep -q 'using 136 processors on nodes' "$work/test" || fail "sbatch --test-only: $(cat "$work/test")"
}
scenario_shell_does_not_override() {
  small+=(SBATCH_PARTITION=nowhere SBATCH_TIMELIMIT=1 SBATCH_JOB_NAME=other SBATCH_NO_REQUEUE=1)
  begin --walltime 7m --name mine 1x1x1 -- true
  says SBATCH_PARTITION
  same "slurmctld says" "mine normal 00:07:00" \
    "$(field "$id" JobName) $(field "$id" Partition) $(field "$id" TimeLimit)"
}
scenario_job_of_another() {
  id=$(as_root node1 sbatch --parsable -n1 --wrap 'sleep 30')
  ddl status "$id"
  ends 0
  ddl cancel "$id"
  ends 4
  says "try: "
  case $(field "$id" JobState) in RUNNING | PENDING) ;; *) fail "it is $(field "$id" JobState)" ;; esac
  as_root node1 scancel "$id"
}
scenario_unknown_ids() {
  ddl status 99999
  ends 3
  says "job 99999 is unknown"
  ddl cancel 99999
  ends 3
  says "job 99999 is unknown"
  ddl logs 99999
  ends 3
}
