#!/bin/bash
# SPDX-License-Identifier: MIT
# Generated rankfiles against Open MPI's own parser. DDLRUN_PLANS=N tries at most N of them (0: all, thousands);
# further arguments are hwloc XML files of more machines.
. "$(dirname "$(readlink -f "$0")")/judge_ready.sh"
shopt -s nullglob
"$DDLRUN_BUILD_DIR/tests/differential/plans" --most "${DDLRUN_PLANS:-240}" --jobs "$(nproc)" "$here/ompi_map.sh" \
  "$DDLRUN_BUILD_DIR/tests/differential/slotparse" "$work" \
  "$here"/../data/topologies/*.xml "$@"
