#!/bin/bash
# SPDX-License-Identifier: MIT
# scripts.sh SCRIPTS STANDIN: random words, names and values through rendered scripts and bash, and back.
# DDLRUN_SCRIPT_ROUNDS scripts are run (1000), on two processes.
set -u
scripts=$1 standin=$2
rounds=${DDLRUN_SCRIPT_ROUNDS:-1000}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir "$work/bin" "$work/1" "$work/2"
for name in ddlrun srun module program; do cp "$standin" "$work/bin/$name" || exit 1; done

"$scripts" rounds $((rounds / 2)) 1 "$work/1" "$work/bin" >"$work/1.out" &
first=$!
status=0
"$scripts" rounds $((rounds - rounds / 2)) 2 "$work/2" "$work/bin" || status=1
wait "$first" || status=1
cat "$work/1.out"
exit "$status"
