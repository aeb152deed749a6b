#!/bin/bash
# SPDX-License-Identifier: MIT
# Saved, read by another reader, stopped by signals, gone on from: the same weights as in one run, and what is said.
. "$(dirname "$0")/ranks.sh"
command -v python3 > /dev/null || skip "no python3 to read the checkpoints; apt-get install python3"
here=$(dirname "$(readlink -f "$0")")

common=(--data "$subset" --global-batch 40 --lr 0.01 --quiet)
whole=("${common[@]}" --epochs 4)
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\)$/\1/p' "$1"; }
steps_in() { python3 -c 'import json,sys
print(*[json.loads(l)["step"] for l in open(sys.argv[1]) if json.loads(l)["type"] == sys.argv[2]])' "$1" "$2"; }

# One run, and a judge that shares no code with ours.
expect 0 'ddl-train: ok' ranks 2 "$train" "${common[@]}" --lr-decay none --momentum 0.5 --max-steps 32 \
  --checkpoint "$work/one" --checkpoint-every 31 --metrics "$work/one.jsonl"
[ "$(steps_in "$work/one.jsonl" checkpoint)" = "25 31 32" ] || fail "checkpoints at $(steps_in "$work/one.jsonl" checkpoint)"
[ "$(cat "$work/one/latest")" = ckpt-000032.safetensors ] || fail "latest is $(cat "$work/one/latest")"
python3 "$here/read_checkpoint.py" lenet5 0.01 "$work/one/ckpt-000031.safetensors" "$work/one/ckpt-000032.safetensors" ||
  fail 'another reader finds faults'

# What an error leaves unsaved, and a way to a rate that numbers bear.
expect 3 'note: the run ends after step 1 of 125; nothing was saved' ranks 2 "$train" --data "$subset" --global-batch 40 --lr 1e30 --quiet \
  --checkpoint "$work/lost"
grep -q 'try: --lr 0.02 --lr-scale none --clip 5' "$work/err" || fail "no --clip: $(cat "$work/err")"

# Stopped by USR1 to one rank, or TERM to all, and gone on until it is over: the weights of one run.
expect 0 'ddl-train: ok' ranks 2 "$train" "${whole[@]}"
straight=$(hash_of "$work/out")
cat > "$work/rank" << 'RANK'
#!/bin/sh
echo $$ > "$1/$OMPI_COMM_WORLD_RANK"
shift
exec "$@"
RANK
chmod +x "$work/rank"
saved_steps() { grep -c '"type":"checkpoint"' "$1.jsonl"; }
# stop_after DIRECTORY STEPS SIGNAL RANKS [OPTION...]: starts two ranks that go on, and signals them once so many
# more steps are saved
stop_after() {
  local directory=$1 steps=$2 signal=$3 signalled=$4 pids="$work/pids"
  shift 4
  rm -rf "$pids" && mkdir "$pids"
  : >> "$directory.jsonl"
  steps=$((steps + $(saved_steps "$directory")))
  ranks 2 "$work/rank" "$pids" "$train" "${whole[@]}" --checkpoint "$directory" --resume --checkpoint-every 1 \
    --metrics "$directory.jsonl" "$@" > "$work/out" 2> "$work/err" < /dev/null &
  job=$!
  while [ "$(saved_steps "$directory")" -lt "$steps" ] && kill -0 "$job" 2>/dev/null; do sleep 0.02; done
  for rank in $signalled; do kill -s "$signal" "$(cat "$pids/$rank")" 2>/dev/null; done
  wait "$job"
  status=$?
}
stops=0
for signal in USR1 TERM; do
  directory=$work/stopped_$signal
  for _ in 1 2 3 4; do
    case $signal in USR1) stop_after "$directory" 12 USR1 1 ;; TERM) stop_after "$directory" 12 TERM "0 1" ;; esac
    [ "$status" -eq 75 ] || break
    stops=$((stops + 1))
    grep -q "^ddl-train: note: stopped by .* after step .*; checkpoint saved" "$work/err" || fail "no word about the stop: $(cat "$work/err")"
    grep -q '^  try: the same command$' "$work/err" || fail 'it has --resume already'
    [ ! -s "$work/out" ] || fail 'a stopped run has a summary'
  done
  if [ "$status" -eq 75 ]; then
    ranks 2 "$train" "${whole[@]}" --checkpoint "$directory" --resume > "$work/out" 2> "$work/err"
    status=$?
  fi
  [ "$status" -eq 0 ] || fail "status $status after $signal: $(cat "$work/err")"
  [ "$(hash_of "$work/out")" = "$straight" ] || fail "$signal: other weights than in one run"
done
[ "$stops" -ge 2 ] || fail "only $stops runs were stopped"
# The file that the runs share: behind each resume line the steps continue, and the time of an epoch is theirs.
awk -F'[:,]' '/"type":"resume"/ { at = $4 + 0; resumes++ } /"type":"step"/ { if (at && $4 + 0 != at + 1) wrong = 1; at = $4 + 0 }
  END { exit wrong || resumes < 2 }' "$directory.jsonl" || fail "the metrics of resumed runs: $(grep -n resume "$directory.jsonl")"
echo "$stops stops, the weights of one run"

# Sums that go on beside the next step: the signal comes while some are under way, and what is saved has them all.
expect 0 'ddl-train: ok' ranks 2 "$train" "${whole[@]}" --net caffe --overlap off
crossed=$(hash_of "$work/out")
rm -rf "$work/pids" && mkdir "$work/pids"
: > "$work/across.jsonl"
ranks 2 "$work/rank" "$work/pids" "$train" "${whole[@]}" --net caffe --overlap across --checkpoint "$work/across" \
  --checkpoint-every 1000000 --metrics "$work/across.jsonl" > "$work/out" 2> "$work/err" < /dev/null &
job=$!
while [ "$(grep -c '"type":"step"' "$work/across.jsonl")" -lt 20 ] && kill -0 "$job" 2>/dev/null; do sleep 0.02; done
kill -s USR1 "$(cat "$work/pids/1")"
wait "$job"
status=$?
[ "$status" -eq 75 ] || fail "status $status, not 75, across steps: $(cat "$work/err")"
expect 0 "hash=$crossed" ranks 2 "$train" "${whole[@]}" --net caffe --overlap across --checkpoint "$work/across" --resume

# What a step draws by chance and what layers keep beside their weights go on too.
cat > "$work/net.yaml" << 'NET'
layers:
  - {name: conv, kind: convolution, outputs: 4, kernel: 5, stride: 2}
  - {name: norm, kind: batch_norm}
  - {name: act, kind: relu}
  - {name: drop, kind: dropout, rate: 0.5}
  - {name: out, kind: inner_product, outputs: classes}
NET
expect 0 'ddl-train: ok' ranks 2 "$train" "${whole[@]}" --net "$work/net.yaml"
drawn=$(hash_of "$work/out")
stop_after "$work/drawn" 10 USR1 0 --net "$work/net.yaml"
[ "$status" -eq 75 ] || fail "status $status after USR1: $(cat "$work/err")"
expect 0 "hash=$drawn" ranks 2 "$train" "${whole[@]}" --net "$work/net.yaml" --checkpoint "$work/drawn" --resume
grep -aq 'norm.running_mean' "$work/drawn/$(cat "$work/drawn/latest")" || fail 'no running means in the checkpoint'

# Another number of ranks continues with the same losses up to rounding; a finished run prints its result again.
cp -r "$work/stopped_USR1" "$work/four"
rm "$work/four"/ckpt-*100.safetensors
expect 0 'ddl-train: ok net=lenet5 ranks=4' ranks 4 "$train" "${whole[@]}" --resume "$work/four"
grep -q 'was skipped' "$work/err" || fail 'a missing checkpoint is not reported'
expect 0 "hash=$straight" ranks 2 "$train" "${whole[@]}" --resume "$work/stopped_USR1"

# A second TERM ends at once, and the checkpoints before it are there.
directory=$work/twice
mkdir "$directory"
"$train" "${common[@]}" --epochs 100000 --checkpoint "$directory" --checkpoint-every 5 > /dev/null 2>&1 < /dev/null &
job=$!
for _ in $(seq 200); do [ -e "$directory/latest" ] && break; sleep 0.05; done
kill -STOP "$job"; kill -TERM "$job"; kill -CONT "$job"; kill -TERM "$job" 2>/dev/null
wait "$job"
status=$?
case $status in 75 | 143) ;; *) fail "two TERM end with $status" ;; esac

# Ctrl-C saves as well; so does TERM where the caller ignores it.
for signal in INT TERM; do
  directory=$work/key.$signal
  (set -m; [ $signal = INT ] || trap '' TERM
    exec "$train" "${common[@]}" --epochs 100000 --checkpoint "$directory" --checkpoint-every 1000000 > "$work/out" 2> "$work/err" < /dev/null) &
  job=$!
  for _ in $(seq 200); do [ -e "$directory/lock" ] && break; sleep 0.05; done
  sleep 0.3
  kill -s $signal "$job"
  wait "$job"
  status=$?
  [ "$status" -eq 75 ] || fail "status $status after $signal: $(cat "$work/err")"
  grep -q "^ddl-train: note: stopped by $signal after step .*; checkpoint saved" "$work/err" || fail "no word about $signal: $(cat "$work/err")"
  grep -q '^  try: the same command with --resume$' "$work/err" || fail 'no word about --resume'
  [ -s "$directory/$(cat "$directory/latest")" ] || fail "$signal: nothing is saved"
done

# Refusals, each with both values and the words to type.
expect_refusal 3 'of the net lenet5, but this run trains mlp' ranks 2 "$train" "${common[@]}" --net mlp --resume "$work/one"
grep -q 'try: --net lenet5' "$work/err" || fail 'no net to type'
expect_refusal 3 "global batch is 40, but this run's is 80" ranks 2 "$train" --data "$subset" --global-batch 80 --resume "$work/one"
# What is to be typed is what would be accepted: 40 images cannot be shared out among 3 ranks.
expect_refusal 3 "this run's is 45" ranks 3 "$train" --data "$subset" --batch-size 15 --resume "$work/one"
grep -q 'try: mpirun -n 2 ddl-train --global-batch 40 --lr 0.01 ' "$work/err" || fail 'no number of ranks to type'
expect 0 'ddl-train: ok' ranks 2 "$train" --data "$subset" --global-batch 40 --lr 0.01 --max-steps 32 --momentum 0.5 --resume "$work/one"
expect_refusal 3 'there is no checkpoint here to resume from' ranks 2 "$train" "${common[@]}" --resume "$work/none"
expect_refusal 3 'ckpt-000031' "$train" "${common[@]}" --max-steps 5 --resume "$work/one/ckpt-000031.safetensors"
expect_refusal 2 '--resume without a directory needs --checkpoint' "$train" "${common[@]}" --resume
expect_refusal 2 'from 2' "$train" "${common[@]}" --checkpoint "$work/x" --keep-checkpoints 1
printf x >> "$work/one/ckpt-000031.safetensors"
expect_refusal 3 'follow' "$train" "${common[@]}" --resume "$work/one/ckpt-000031.safetensors"
touch "$work/file"
expect_refusal 3 'cannot be created' ranks 2 "$train" "${common[@]}" --checkpoint "$work/file"
finish
