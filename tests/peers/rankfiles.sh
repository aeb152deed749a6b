#!/bin/bash
# SPDX-License-Identifier: MIT
# Generated rankfiles against the parser and mapper of Open MPI 5 (PRRTE 3). DDLRUN_PLANS=N tries at most N of them (0: all).
set -u
here=$(dirname "$(readlink -f "$0")")
place=$("$here/install.sh" openmpi5) || { status=$?; echo "$place"; exit "$status"; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
# PRRTE maps nothing at all, with or without a rankfile, on a machine without cores.
mapfile -t machines < <(grep -l 'type="Core"' "$here"/../data/topologies/*.xml)
export PRRTE_MPIRUN=$place/bin/mpirun
"$PRRTE_MPIRUN" --version | head -n 1
"$DDLRUN_BUILD_DIR/tests/differential/plans" --most "${DDLRUN_PLANS:-240}" --jobs "$(nproc)" "$here/../differential/prrte_map.sh" - "$work" \
  "${machines[@]}" "$@"
