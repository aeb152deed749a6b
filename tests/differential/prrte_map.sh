#!/bin/bash
# SPDX-License-Identifier: MIT
# prrte_map.sh TOPOLOGY.xml RANKFILE [--host LIST -np N]: where Open MPI 5 itself (PRRTE 3) would put and bind every rank. As
# ompi_map.sh, but BINDING is a list of logical core numbers of the machine ("0-3,8"), or "-" where PRRTE printed none.
# $PRRTE_MPIRUN is its mpirun.
#   0 every rank was mapped    1 refused: PRRTE's words are on stderr    3 mpirun crashed    2 usage    124 mpirun hung
set -u
[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
xml=$1 rankfile=$2
shift 2
own=$(mktemp -d) printed=$own/printed
trap 'rm -rf "$own"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ulimit -c 0
if [ $# -eq 0 ]; then
  set -- --host "$(awk -F'[= ]+' '/^rank/ { count[$3]++ } END { for (host in count) printf "%s%s:%d", (n++ ? "," : ""), host, count[host] }' "$rankfile")" \
    -np "$(grep -c '^rank' "$rankfile")"
fi
{
  TMPDIR=$own timeout -k 5 "${OMPI_MAP_SECONDS:-60}" "${PRRTE_MPIRUN:-mpirun}" --prtemca hwloc_use_topo_file "$xml" \
    --runtime-options donotlaunch --display map-devel --map-by "rankfile:file=$rankfile" "$@" true \
    > "$printed" 2>&1 < /dev/null
} 2> /dev/null # bash would print the signal
status=$?
awk '/Data for node:/ { host = $4 }
     /Data for proc:/ { if (open) print host_of, rank, "-"
                        rank = $4; sub(/.*,/, "", rank); sub(/\].*/, "", rank); open = 1; host_of = host }
     /Binding:/ && !/policy/ && open {
       cores = ""
       for (text = $0; match(text, /core:L[0-9,-]+/); text = substr(text, RSTART + RLENGTH))
         cores = cores (cores == "" ? "" : ",") substr(text, RSTART + 6, RLENGTH - 6)
       print host_of, rank, cores == "" ? "-" : "cores:" cores
       open = 0
     }
     END { if (open) print host_of, rank, "-" }' "$printed"
[ "$status" -ne 124 ] || { echo "prrte_map: mpirun did not end by itself" >&2; exit 124; }
case $status in 134 | 135 | 136 | 139) echo "crash $((status - 128))" >&2; exit 3 ;; esac
if [ "$status" -ne 0 ] || ! grep -q 'Data for proc:' "$printed"; then
  grep -avE '^ *$|^-+$|^=+$' "$printed" | head -n 20 >&2
  exit 1
fi
exit 0
