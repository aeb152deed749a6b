#!/bin/bash
# SPDX-License-Identifier: MIT
# What `ddlrun launch` adds to mpirun with the same rankfile: 4 virtual hosts, RANKS each (2), a program that ends at once.
# Both in turns, ROUNDS (10) of them; best and median in ms. Needs root, and DDLRUN=the binary. With more ranks than
# cores, both sides give mpirun cores that do not exist (it warns that it cannot bind) and use no ssh.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/../tests/cluster/lab_test.sh"
lab_up 4
hosts=node1,node2,node3,node4 ranks=${RANKS:-2} rounds=${ROUNDS:-10}
cores=$((ranks > 2 ? ranks : 2)) faked=()
if [ "$cores" -gt "$(nproc)" ]; then
  lstopo-no-graphics --input "pack:1 core:$cores pu:1" --of xml > "$lab_home/cores.xml" 2> /dev/null
  faked=(--mca hwloc_base_topo_file /home/ddl/cores.xml)
fi
on node1 "$tool" gen-rankfile "${ranks}x4x1" $hosts --sockets 1 --cores $cores > "$lab_home/job.rf" || exit 1
bare() { on node1 mpirun -n $((4 * ranks)) --rankfile job.rf --mca btl_tcp_if_include eth0 "${faked[@]}" true; }
launch() { on node1 "$tool" launch --rankfile job.rf --sockets 1 --cores $cores "${faked[@]}" "$@" -- true; }
dims() { on node1 "$tool" launch "${ranks}x4x1" $hosts --sockets 1 --cores $cores "${faked[@]}" -- true; }
detected() { on node1 "$tool" launch "${ranks}x4x1" $hosts -- true; }
ssh_only() { on node1 "$tool" launch --launcher ssh "${ranks}x4x1" $hosts --sockets 1 --cores $cores -- true; }
declare -A times
timed() { # NAME COMMAND...
  local begun
  begun=$(date +%s%N)
  "${@:2}" > "$work/out" 2>&1 || { tail -3 "$work/out"; exit 1; }
  times[$1]+="$((($(date +%s%N) - begun) / 100000)) "
}
for ((round = 0; round <= rounds; round++)); do
  [ $round -ne 1 ] || times=() # the first one warms up
  timed bare bare
  timed launch launch
  timed no_watch launch --no-monitor
  timed plan dims
  [ ${#faked[@]} -eq 0 ] || continue
  timed ssh ssh_only
  timed detected detected # the hosts are asked for their cores and interfaces
done
for name in bare launch no_watch plan ssh detected; do
  [ -n "${times[$name]-}" ] || continue
  tr ' ' '\n' <<< "${times[$name]}" | sed '/^$/d' | sort -n |
    awk -v name=$name '{ t[NR] = $1 / 10 } END { printf "%-9s best %6.1f ms, median %6.1f ms of %d\n", name, t[1], t[int((NR + 1) / 2)], NR }'
done
