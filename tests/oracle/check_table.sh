#!/bin/bash
# SPDX-License-Identifier: MIT
# The table of good and bad rankfiles: Open MPI's real outcome against the linter's.
set -u
here=$(dirname "$(readlink -f "$0")")
command -v mpirun >/dev/null || { echo "skipped: no mpirun (Debian: openmpi-bin)"; exit 125; }
mpirun --version 2>/dev/null | grep -q 'Open MPI) 4\.1' || { echo "skipped: the judge is Open MPI 4.1"; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$DDLRUN_BUILD_DIR/tests/oracle/check_table" --jobs "$(nproc)" "$here/ompi_map.sh" "$here/uneven.xml" "$work"
