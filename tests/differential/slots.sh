#!/bin/bash
# SPDX-License-Identifier: MIT
# Random slot texts against Open MPI's own parser. DDLRUN_SLOT_TEXTS=N: so many on each machine; further
# arguments are hwloc XML files of more machines.
set -u
here=$(dirname "$(readlink -f "$0")")
slotparse=$DDLRUN_BUILD_DIR/tests/differential/slotparse
[ -x "$slotparse" ] || { echo "skipped: no slotparse, it needs libopen-pal.so.40 of Open MPI 4.1"; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
shopt -s nullglob
"$DDLRUN_BUILD_DIR/tests/differential/slots" "$slotparse" "$work" "${DDLRUN_SLOT_TEXTS:-2000}" "$here/uneven.xml" \
  "$here"/../data/topologies/*.xml "$@"
