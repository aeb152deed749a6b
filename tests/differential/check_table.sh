#!/bin/bash
# SPDX-License-Identifier: MIT
# The table of good and bad rankfiles: Open MPI's real outcome against the linter's.
. "$(dirname "$(readlink -f "$0")")/judge_ready.sh"
"$DDLRUN_BUILD_DIR/tests/differential/check_table" --jobs "$(nproc)" "$here/ompi_map.sh" "$here/uneven.xml" "$work"
