# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Memory runs out, by a limit of the address space (prlimit --as), as the lab has no control groups of its own. Open MPI
# 4.1.4 takes too little memory for a network that is not there ("oob-tcp").

limited() { # KiB COMMAND...
  status=0
  alive=0
  on node1 prlimit --as=$(($1 * 1024)) "${@:2}" > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
}
# From just enough to load ddlrun, through too little for it and for mpirun, to enough.
job=("$tool" launch 1x2x1 "$(IFS=,; echo "${hosts[*]}")" --sockets 1 --cores 2)
for kib in 16000 ${full:+14000 18000 20000 24000 30000 40000 60000}; do
  row launch 'memory runs out' "from 14 to 60 MB of addresses" '[1-9]|127|136' 'not enough memory|cannot|PMIX ERROR|failed|oob-tcp|itself was ended' \
    limited "$kib" "${job[@]}" -- ./rank
done
for kib in ${full:+15000 16000 18000 20000}; do
  row 'launch, ssh' 'memory runs out' "from 14 to 60 MB of addresses" '[0-9]|127' 'memory|cannot|failed|ended' limited "$kib" "${job[@]}" --launcher ssh -- ./rank
  row doctor 'memory runs out' "from 14 to 60 MB of addresses" '[0-9]|127' 'memory|cannot|failed|hosts' limited "$kib" "$tool" doctor "${job[3]}"
done
