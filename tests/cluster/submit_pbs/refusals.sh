# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# SPDX-License-Identifier: MIT
# Sourced by ../submit_pbs.sh: what ddlrun refuses, what qsub refuses, and what waits forever.

scenario_bad_queue() { refused 4 "no such queue" --queue nowhere 1x1x1; }
scenario_closed_queue() { refused 4 "takes no jobs now" --queue closed 1x1x1; }
scenario_too_long() { refused 4 "above what the queue allows" --queue debug --walltime 2h 1x1x1; }
scenario_no_such_resource() { refused 4 "no resource of that name" --constraint cpu_kind=fast 1x1x1; }

# pbs_server accepts them, and they would wait forever; the reason is reported at once.
never() { # TEXT WORDS...
  begin_never "${@:2}" -- true
  ddl status "$id"
  ends 0
  prints "$1"
  ddl cancel "$id"
  ends 0
  submit "${@:2}" -- true
  ends 4
  says "can never run"
  ddl cancel "$id"
}
scenario_too_many_cores() {
  refused 3 "cores_per_node requests 69 CPUs, and no node has more than 68" --cores-per-node 69 --threads 69 1x1x1
  refused 3 "cores_per_node requests 69 CPUs" --runner ddlrun --oversubscribe yes --cores-per-node 69 --threads 69 1x1x1
}
scenario_too_many_gpus() { refused 3 "5 GPUs a node are requested, and no node has more than 4" --gpus 5 1x1x1; }
scenario_too_much_memory_of_a_host() { never "100gb" --memory 100GiB 1x1x1; }
scenario_too_many_nodes() {
  refused 3 "68 CPUs on 9 nodes, and 4 of 6 nodes have so many" --exclusive yes 1x9x1
  submit --dry-run 1x9x1 -- true
  ends 0
  says "68 CPUs on 9 nodes, and 4 of 6 nodes have so many"
}
scenario_too_much_memory() { never "" --memory 9000GiB 1x1x1; }

scenario_dry_run() {
  small=()
  submit --dry-run 4x2x1 --gpus 4 --cores-per-node 68 --walltime 1h --name dry -- ./train --epochs 3
  ends 0
  [ -z "$(find "$lab_home/ddlrun-jobs" -name 'dry-*' 2> /dev/null)" ] || fail "a dry run wrote a directory"
  on node1 bash -c 'cat > dry.sh' < "$work/out"
  id=$(on node1 qsub -h dry.sh) || fail "qsub refuses the script of --dry-run"
  same "pbs_server has" "8 136 8 2 01:00:00 scatter:excl" "$(for name in mpiprocs ncpus ngpus nodect walltime place; do
    field "$id" "Resource_List.$name"; done | xargs)"
  on node1 qdel "$id"
}
