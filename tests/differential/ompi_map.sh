#!/bin/bash
# SPDX-License-Identifier: MIT
# ompi_map.sh TOPOLOGY.xml RANKFILE [mpirun options...]: where Open MPI 4.1 itself would put and bind every rank.
#
# Any topology, made-up host names, nothing is started. One line "HOST RANK BINDING" a rank on stdout, BINDING as
# Open MPI draws it ("[B/B/./.][./././.]", logical order, one letter a hardware thread; "-" where it drew
# nothing, that is: not bound). Exit status:
#   0    every rank of the job was mapped and bound
#   1    refused: Open MPI's words are on stderr (or "Open MPI said nothing")
#   3    mpirun crashed; "crash SIGNAL" on stderr
#   2    usage, or what is needed is not there
#   124  mpirun hung
# OMPI_MAP_SHIM names the compiled noassign.c; without it, the one in the build directory. mpirun's own exit status
# is no help: it is 0 for most bad files.
set -u

[ $# -ge 2 ] || { sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
shim=${OMPI_MAP_SHIM:-${DDLRUN_BUILD_DIR:-.}/tests/differential/libnoassign.so}
[ -r "$shim" ] || { echo "ompi_map: the shim $shim is missing: build target noassign" >&2; exit 2; }
shim=$(readlink -f "$shim")
xml=$1 rankfile=$2
shift 2

# Its own directory: Open MPI fails if another mpirun removes the shared one at the same time.
own=$(mktemp -d) said=$own/said
trap 'rm -rf "$own"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ulimit -c 0
{
  HWLOC_XMLFILE=$xml LD_PRELOAD=$shim timeout -k 5 "${OMPI_MAP_SECONDS:-60}" \
  "${OMPI_MAP_MPIRUN:-mpirun}" --mca if_base_do_not_resolve 1 --mca orte_tmpdir_base "$own" --do-not-launch --display-devel-map \
  -rf "$rankfile" "$@" true >"$said" 2>&1 </dev/null
} 2>/dev/null # bash would print the signal
status=$?

awk '/Data for node:/ { host = $4 }
     /Data for proc:/ { if (open) print host, rank, "-"
                        rank = $4; sub(/.*,/, "", rank); sub(/\].*/, "", rank); open = 1 }
     /Binding:/ && !/policy/ && open { print host, rank, ($2 == "" ? "-" : $2); open = 0 }
     END { if (open) print host, rank, "-" }' "$said"

if [ "$status" -eq 124 ]; then
  echo "ompi_map: mpirun did not end by itself" >&2
  exit 124
fi
if [ "$status" -gt 128 ] || grep -q 'buffer overflow detected\|Process received signal' "$said"; then
  echo "crash $((status > 128 ? status - 128 : 0))" >&2
  exit 3
fi
words='ORTE_ERROR_LOG|The rankfile that was used|invalid syntax|parse error|missing its location|already assigned'
words+='|unable to open|Sorry!|bigger than number|relative host|illegal character|No nodes are available'
words+='|already filled|not enough slots|no location for the process'
if grep -qE "$words" "$said"; then
  grep -vE '^ *$|^-+$|FORCE-TERMINATE|Data for|Pid:|State:|Binding|Locale:|Daemon|Mapper req|Num |Next node|JOB MAP' "$said" >&2
  exit 1
fi
if ! grep -q 'Binding:' "$said"; then
  grep -vE '^ *$|^-+$|FORCE-TERMINATE' "$said" | head -n 20 >&2
  echo "ompi_map: nothing was mapped and Open MPI did not say why" >&2
  exit 1
fi
exit 0
