#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun diagnose` on the logs of real runs that were broken on purpose (tests/lab/broken.sh --record made them): the
# cause named must be the one that was injected, with its host and rank where the log shows them.
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/support/check.sh
. "$here/../support/check.sh"
command -v python3 > /dev/null || { echo "skipped: no python3 here"; exit 125; }
runs=0
for folder in "$here"/../golden/broken_runs/*/; do
  id=$(basename "$folder")
  runs=$((runs + 1))
  from=$(sed -n 's/^from //p' "$folder/expected")
  run "$DDLRUN" diagnose --json --status "$(cat "$folder/status")" ${from:+--from "$from"} "$folder/log"
  [ "$status" -eq 1 ] || fail "$id: diagnose ends with $status, not 1"
  verdict=$("$here/../lab/broken/judge.py" "$folder/expected" "$work/out" 2>&1) || fail "$id: $verdict"
done
[ "$runs" -ge 40 ] || fail "only $runs recorded runs"
echo "$runs recorded runs"
finish
