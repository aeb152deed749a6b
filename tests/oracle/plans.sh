#!/bin/bash
# SPDX-License-Identifier: MIT
# Generated rankfiles against Open MPI's own parser. DDLRUN_PLANS=N tries at most N of them (0: all, thousands);
# further arguments are hwloc XML files of more machines.
set -u
here=$(dirname "$(readlink -f "$0")")
command -v mpirun >/dev/null || { echo "skipped: no mpirun (Debian: openmpi-bin)"; exit 125; }
mpirun --version 2>/dev/null | grep -q 'Open MPI) 4\.1' || { echo "skipped: the judge is Open MPI 4.1"; exit 125; }
shopt -s nullglob
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$DDLRUN_BUILD_DIR/tests/oracle/plans" --most "${DDLRUN_PLANS:-240}" --jobs "$(nproc)" "$here/ompi_map.sh" \
  "$DDLRUN_BUILD_DIR/tests/oracle/slotparse" "$work" \
  "$here"/../data/topologies/*.xml "$@"
