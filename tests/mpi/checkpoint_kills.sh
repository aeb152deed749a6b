#!/bin/bash
# SPDX-License-Identifier: MIT
# Killed with SIGKILL at random moments while it saves after each step: whatever is left can be gone on from, and the
# run ends with the weights of one that no one killed. KILLS=50 for a long run.
. "$(dirname "$0")/ranks.sh"
kills=${KILLS:-12}

# Steps short, checkpoints large: most of the time goes into writing them.
common=(--data "$subset" --net mlp --global-batch 4 --epochs 1000 --quiet --lr-decay none --lr 0.001)
step_of() { sed -n 's/^ckpt-0*\([0-9]\{1,\}\)\.safetensors$/\1/p' "$1/latest" 2> /dev/null; }

directory=$work/killed
mkdir "$directory"
last=0
lost=0
for ((i = 1; i <= kills; ++i)); do
  "$train" "${common[@]}" --checkpoint "$directory" --checkpoint-every 1 --resume > "$work/out" 2> "$work/err" < /dev/null &
  job=$!
  for _ in $(seq 500); do  # into the saving
    [ "$(step_of "$directory")" -gt "$last" ] 2> /dev/null && break
    kill -0 "$job" 2> /dev/null || break
    sleep 0.01
  done
  sleep "0.$((RANDOM % 90 + 10))"
  kill -KILL "$job" 2> /dev/null || fail "trial $i ended by itself: $(head -3 "$work/err")"
  wait "$job" 2> /dev/null
  [ ! -s "$work/err" ] || fail "trial $i: $(head -3 "$work/err")"
  named=$(step_of "$directory")
  [ "${named:-0}" -gt "$last" ] || fail "trial $i: latest went from $last to ${named:-nothing}"
  ls "$directory"/*.tmp > /dev/null 2>&1 && lost=$((lost + 1))
  last=${named:-$last}
done
echo "$kills kills up to step $last, $lost of them in the middle of a file"

# To the end from where the last kill left it, and in one go.
end=$((last + 10))
expect 0 'ddl-train: ok' "$train" "${common[@]}" --checkpoint "$directory" --resume --max-steps "$end"
pieces=$(sed 's/.* hash=//' "$work/out")
expect 0 "hash=$pieces" "$train" "${common[@]}" --max-steps "$end"
# The last two are kept, and the one of the best accuracy.
kept=$(cd "$directory" && ls ckpt-*.safetensors)
wanted=$( (tail -n 2 <<< "$kept"; cat "$directory/best" 2> /dev/null) | sort -u)
same "the checkpoints that are kept" "$wanted" "$kept"
finish
