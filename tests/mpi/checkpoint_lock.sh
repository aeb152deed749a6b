#!/bin/bash
# SPDX-License-Identifier: MIT
# A checkpoint directory belongs to one run: a second run is refused with the name of the first and harms nothing. What
# a killed run leaves behind does not block the next one.
. "$(dirname "$0")/ranks.sh"

common=(--data "$subset" --global-batch 40 --lr 0.01 --quiet)
directory=$work/kept
# start [OPTION...]: a run without end, once it has saved.
start() {
  "$train" "${common[@]}" --epochs 100000 --checkpoint "$directory" --checkpoint-every 5 "$@" > "$work/first" 2>&1 < /dev/null &
  job=$!
  for _ in $(seq 200); do
    [ "$(cut -d' ' -f2 "$directory/lock" 2> /dev/null)" != "$job" ] || [ ! -e "$directory/latest" ] || return
    kill -0 "$job" 2> /dev/null || fail "the first run ended: $(head -3 "$work/first")"
    sleep 0.05
  done
}

start
for second in --resume --json; do
  expect_refusal 3 "another run saves to this directory: process $job on $(uname -n)" \
    ranks 2 "$train" "${common[@]}" --epochs 1 --checkpoint "$directory" "$second"
  grep -q "^  try: --checkpoint OTHER_DIR .*kill -TERM $job" "$work/err" || fail "nothing to type: $(cat "$work/err")"
done
kill -TERM "$job"
wait "$job"
status=$?
[ "$status" -eq 75 ] || fail "the first run ends with $status: $(head -3 "$work/first")"

# The next one goes on: after an end in order, and after a kill.
start --resume
kill -KILL "$job"
wait "$job" 2> /dev/null
step=$(sed 's/[^0-9]//g; s/^0*//' "$directory/latest")
expect 0 'ddl-train: ok' ranks 2 "$train" "${common[@]}" --epochs 100000 --max-steps "$((step + 3))" --checkpoint "$directory" --resume
grep -q 'note' "$work/err" && fail "a note after a kill: $(cat "$work/err")"
expect 0 'ddl-train: ok' ranks 2 "$train" "${common[@]}" --max-steps 3 --checkpoint "$work/another"
finish
