#!/bin/bash
# SPDX-License-Identifier: MIT
# --timeline: one file that a foreign, strict reader takes, of all ranks, after an orderly end, a stop, an error and
# a kill; and its spans fill the steps.
. "$(dirname "$0")/ranks.sh"
here=$(dirname "$(readlink -f "$0")")
command -v python3 > /dev/null || skip 'no python3; apt-get install python3'

# judged FILE TEXT...: the reader takes it and says so
judged() {
  local file=$1
  shift
  python3 "$here/check_timeline.py" "$file" > "$work/judged" || fail "$file: $(cat "$work/judged")"
  for text in "$@"; do grep -q -- "$text" "$work/judged" || fail "$file: no '$text': $(head -3 "$work/judged")"; done
}
reported_share() { sed -n 's/.* reported=\([0-9.]*\) .*/\1/p' "$work/judged"; }

# Two ranks to the end.
expect 0 'timeline: ' ranks 2 "$train" --data "$subset" --net lenet5 --max-steps 30 --batch-size 20 --timeline "$work/t.json"
judged "$work/t.json" '^ranks=2 .* steps=60 ' 'compute' 'sums' 'counters=bytes summed,images/s' '^process rank 1 ('
awk -v reported="$(reported_share)" 'BEGIN { exit !(reported >= 0.95) }' || fail "only $(reported_share) of a step is reported"
find "$work" -name '*.part' | grep -q . && fail 'parts are left after an orderly end'

# Sums that cross the borders of steps: the computing lane alone still fills them.
expect 0 'timeline: ' ranks 2 "$train" --data "$subset" --net caffe --max-steps 30 --batch-size 20 --overlap across --timeline "$work/a.json"
judged "$work/a.json" '^ranks=2 .* steps=60 ' 'compute' 'sums' 'counters=bytes summed,images/s'
awk -v reported="$(reported_share)" 'BEGIN { exit !(reported >= 0.95) }' || fail "only $(reported_share) of a step is reported, across steps"
python3 - "$work/a.json" << 'END' || fail 'no sum ends in another step than it began in'
import json
import sys
events = [event for event in json.load(open(sys.argv[1]))["traceEvents"] if event["ph"] == "X"]
steps = [event for event in events if event["name"].startswith("step ")]
sums = [event for event in events if event["name"].startswith("bucket ") and event["dur"] > 0]
crossing = sum(step["pid"] == one["pid"] and one["ts"] < step["ts"] + step["dur"] < one["ts"] + one["dur"]
               for step in steps for one in sums)
sys.exit(crossing == 0)
END

# One rank, by Horovod's variable.
HOROVOD_TIMELINE=$work/h.json expect 0 'ddl-train: ok' "$train" --data "$subset" --max-steps 5 --quiet
judged "$work/h.json" '^ranks=1 .* steps=5 '
HOROVOD_TIMELINE=DYNAMIC expect 0 'ddl-train: ok' "$train" --data "$subset" --max-steps 1 --quiet

# An error that all ranks know of.
expect 3 'is not finite' ranks 2 "$train" --data "$subset" --lr 1e30 --timeline "$work/e.json"
judged "$work/e.json" '^ranks=2 '

# A rank is killed: the parts are there, and become one file.
mkdir "$work/pids"
cat > "$work/rank" << 'RANK'
#!/bin/sh
: > "$1/$$"
shift
exec "$@"
RANK
chmod +x "$work/rank"
ranks 2 "$work/rank" "$work/pids" "$train" --data "$subset" --epochs 100000 --quiet --timeline "$work/k.json" \
  > "$work/killed" 2>&1 < /dev/null &
job=$!
for _ in $(seq 100); do
  [ "$(find "$work" -name 'k.json.rank*.part' | wc -l)" -lt 2 ] || break
  sleep 0.1
done
sleep 1.5  # into the training
victim=$(find "$work/pids" -type f -printf '%f\n' | head -1)
kill -KILL "$victim"
wait "$job" && fail 'a killed rank ends the job with 0'
[ ! -e "$work/k.json" ] || fail 'a killed run wrote a whole timeline'
expect 0 'spans of 2 of 2 rank' "$train" timeline "$work/k.json"
judged "$work/k.json" '^ranks=2 '

# What is no part, or half a one, is named and left out.
head -c 100 "$work/k.json.rank1.part" > "$work/cut" && cp "$work/cut" "$work/k.json.rank1.part"
expect 0 'rank1.part: a part of the timeline is cut short' "$train" timeline "$work/k.json"
judged "$work/k.json" '^ranks=1 '
rm "$work"/k.json.rank*.part
expect_refusal 3 'no part of a timeline was found' "$train" timeline "$work/k.json"
expect_refusal 2 'the FILE given to --timeline is missing' "$train" timeline
expect_refusal 3 "the timeline cannot be written" ranks 2 "$train" --data "$subset" --max-steps 1 --timeline /no/such/t.json
finish
