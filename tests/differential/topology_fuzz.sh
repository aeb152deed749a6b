#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_fuzz.sh [COUNT [FIRST]]: mutated machine files against the real binary; 120 in the suite, any number by hand.
set -u
files=("$DDLRUN_SOURCE_DIR"/tests/data/topologies/*.xml)
directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT
ulimit -c 0
"$DDLRUN_BUILD_DIR/tests/differential/topology_fuzz" "$DDLRUN" "$directory" "${1:-120}" "${2:-0}" "${files[@]}"
