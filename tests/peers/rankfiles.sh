#!/bin/bash
# SPDX-License-Identifier: MIT
# Rankfiles, generated, of the table and mutated, against the parser and mapper of Open MPI 5 (PRRTE 3). DDLRUN_PLANS=N
# tries at most N plans (0: all), DDLRUN_MUTANTS=N so many mutants.
set -u
here=$(dirname "$(readlink -f "$0")")
place=$("$here/install.sh" openmpi5) || { status=$?; echo "$place"; exit "$status"; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
# PRRTE maps nothing at all, with or without a rankfile, on a machine without cores.
mapfile -t machines < <(grep -l 'type="Core"' "$here"/../data/topologies/*.xml)
export PRRTE_MPIRUN=$place/bin/mpirun
"$PRRTE_MPIRUN" --version | head -n 1
judge=$here/../differential/prrte_map.sh programs=$DDLRUN_BUILD_DIR/tests/differential jobs=$(nproc)
status=0
"$programs/plans" --most "${DDLRUN_PLANS:-240}" --jobs "$jobs" "$judge" - "$work" "${machines[@]}" "$@" || status=1
"$programs/check_table" --jobs "$jobs" "$judge" "$here/../differential/uneven.xml" "$work" 5 || status=1
"$programs/mutants" --jobs "$jobs" "$judge" "$work" "${DDLRUN_MUTANTS:-200}" 5 || status=1
exit "$status"
