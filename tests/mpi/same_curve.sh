#!/bin/bash
# SPDX-License-Identifier: MIT
# The same global batch gives the same loss curve on 1, 2 and 4 ranks, and equal weights on all of them.
. "$(dirname "$0")/ranks.sh"
command -v python3 > /dev/null || skip "no python3 to compare the curves; apt-get install python3"

# A rate without decay that training follows calmly: the comparison is of arithmetic, not of chaos.
for count in 1 2 4; do
  expect 0 ' weights=equal ' ranks "$count" "$train" --data "$subset" --global-batch 40 --max-steps 50 --epochs 10 \
    --lr 0.005 --lr-decay none --quiet --metrics "$work/$count.jsonl"
done
python3 - "$work" <<'PY' || fail 'the loss curves differ'
import json, sys
curves = {}
for count in (1, 2, 4):
    records = [json.loads(line) for line in open(f"{sys.argv[1]}/{count}.jsonl")]
    assert records[0]["type"] == "config" and records[0]["ranks"] == count, records[0]
    assert records[-1]["type"] == "summary" and records[-1]["weights_equal"] is True, records[-1]
    curves[count] = [r["loss"] for r in records if r["type"] == "step"]
    assert [r["step"] for r in records if r["type"] == "step"] == list(range(1, 51))
    assert len({r["lr"] for r in records if r["type"] == "step"}) == 1
assert curves[1][-1] < 0.8 * curves[1][0], curves[1]
for count in (2, 4):
    worst = max(abs(a - b) for a, b in zip(curves[1], curves[count]))
    print(f"{count} ranks: the losses of 50 steps differ by at most {worst:.1e}")
    assert worst <= 1e-4
PY
finish
