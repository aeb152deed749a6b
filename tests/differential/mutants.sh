#!/bin/bash
# SPDX-License-Identifier: MIT
# Mutated rankfiles: where the linter finds no error, Open MPI must take the file as written. DDLRUN_MUTANTS=N.
. "$(dirname "$(readlink -f "$0")")/judge_ready.sh"
"$DDLRUN_BUILD_DIR/tests/differential/mutants" --jobs "$(nproc)" "$here/ompi_map.sh" "$work" "${DDLRUN_MUTANTS:-200}"
