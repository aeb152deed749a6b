#!/bin/bash
# SPDX-License-Identifier: MIT
# Mutated rankfiles: where the linter finds no error, Open MPI must take the file as written. DDLRUN_MUTANTS=N.
set -u
here=$(dirname "$(readlink -f "$0")")
command -v mpirun >/dev/null || { echo "skipped: no mpirun (Debian: openmpi-bin)"; exit 125; }
mpirun --version 2>/dev/null | grep -q 'Open MPI) 4\.1' || { echo "skipped: the judge is Open MPI 4.1"; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$DDLRUN_BUILD_DIR/tests/oracle/mutants" --jobs "$(nproc)" "$here/ompi_map.sh" "$work" "${DDLRUN_MUTANTS:-200}"
