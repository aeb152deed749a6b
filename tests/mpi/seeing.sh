#!/bin/bash
# SPDX-License-Identifier: MIT
# What a run writes and shows: metrics and results with the accuracy and the time split, TensorBoard's files as
# Google's protocol buffers read them, a bar on a terminal.
. "$(dirname "$0")/ranks.sh"
here=$(dirname "$(readlink -f "$0")")
command -v python3 > /dev/null || skip 'no python3; apt-get install python3'

expect 0 'ddl-train: ok' ranks 2 "$train" --data "$subset" --epochs 2 --batch-size 20 --metrics "$work/m.jsonl" \
  --summary-json "$work/r.json" --tensorboard "$work/runs/a"
python3 - "$work/m.jsonl" "$work/r.json" << 'END' > "$work/checked" 2>&1 || fail "$(tail -3 "$work/checked")"
import json
import sys
lines = [json.loads(line) for line in open(sys.argv[1])]
results = json.load(open(sys.argv[2]))
steps = [line for line in lines if line["type"] == "step"]
epochs = [line for line in lines if line["type"] == "epoch"]
summary = lines[-1]
assert summary["type"] == "summary" and len(epochs) == 2
for step in steps:
    parts = step["compute_ms"] + step["comm_ms"] + step["input_ms"]
    assert parts <= 1.02 * step["step_ms"], step
assert 0 < results["compute_percent"] <= 100 and 0 <= results["comm_percent"] <= 100
assert results["compute_percent"] + results["comm_percent"] + results["input_percent"] <= 102
assert results["peak_memory_bytes"] > 10e6 and results["peak_memory_rank"] in (0, 1)
assert results["test_accuracy"] == summary["test_accuracy"] == epochs[-1]["test_accuracy"] == results["history"][-1]["test_accuracy"]
assert results["config"]["ranks"] == 2 and results["stopped"] is False
assert results["resumed_at_step"] is None
END

# After a resume: the epochs since, and where they begin.
saved=(--data "$subset" --net mlp --global-batch 40 --checkpoint "$work/saved" --quiet)
expect 0 'ddl-train: ok' "$train" "${saved[@]}" --epochs 2
expect 0 'ddl-train: ok' "$train" "${saved[@]}" --epochs 3 --resume --summary-json "$work/resumed.json"
python3 - "$work/resumed.json" << 'END' > "$work/checked" 2>&1 || fail "$(tail -3 "$work/checked")"
import json
import sys
results = json.load(open(sys.argv[1]))
assert results["steps"] == 75 and results["resumed_at_step"] == 50, results
assert [epoch["epoch"] for epoch in results["history"]] == [3], results["history"]
END

# Debian's own: what apt-get installs is not seen by another python3 that comes first.
python=python3
! /usr/bin/python3 -c 'import crcmod' 2> /dev/null || python=/usr/bin/python3
"$python" "$here/read_tfevents.py" "$work"/runs/a/events.out.tfevents.* > "$work/events"
case $? in
  125) cat "$work/events" ;;
  0)
    steps=$(grep -c '"type":"step"' "$work/m.jsonl")
    [ "$(grep -c '^scalar train/loss ' "$work/events")" -eq "$steps" ] || fail 'not a loss for each step'
    grep -q "^scalar test/accuracy $steps " "$work/events" || fail 'no accuracy at the last step'
    grep -q '^text configuration .*lenet5' "$work/events" || fail 'no configuration'
    python3 - "$work/m.jsonl" "$work/events" << 'END' || fail 'the losses differ from the metrics'
import json
import struct
import sys
as_float = lambda value: struct.unpack("f", struct.pack("f", value))[0]
want = {line["step"]: as_float(line["loss"]) for line in map(json.loads, open(sys.argv[1])) if line["type"] == "step"}
rows = [line.split() for line in open(sys.argv[2]) if line.startswith("scalar train/loss ")]
assert {int(row[2]): as_float(float(row[3])) for row in rows} == want
END
    ;;
  *) fail "the event file: $(tail -2 "$work/events")" ;;
esac
expect_refusal 3 'cannot be created' "$train" --data "$subset" --max-steps 1 --tensorboard /proc/no/such
expect_refusal 3 'the summary file cannot be written' "$train" --data "$subset" --max-steps 1 --summary-json /no/such/r.json
expect_refusal 2 'the file name is empty' "$train" --timeline ''

# A terminal of 50 columns: one line that is drawn again, never wider; a dumb one and a file get whole lines.
if command -v script > /dev/null; then
  TERM=xterm script -qec "stty cols 50; '$train' --data '$subset' --epochs 12" "$work/typed" > /dev/null 2>&1 < /dev/null
  grep -q $'\r\033\[K' "$work/typed" || fail 'no bar on a terminal'
  tr '\r' '\n' < "$work/typed" | grep -a $'^\033\[K.' | sed 's/\x1b\[K//' | grep -v accuracy > "$work/bars"
  awk 'length($0) > 49 { exit 1 }' "$work/bars" || fail "a bar is too wide: $(awk 'length($0) > 49' "$work/bars" | head -1)"
  grep -q '%  loss ' "$work/bars" || fail "no loss in a bar: $(head -1 "$work/bars")"
  TERM=dumb script -qec "'$train' --data '$subset' --epochs 2" "$work/typed" > /dev/null 2>&1 < /dev/null
  ! grep -q $'\033' "$work/typed" || fail 'control sequences on a dumb terminal'
fi
finish
