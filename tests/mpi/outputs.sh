#!/bin/bash
# SPDX-License-Identifier: MIT
# What is written is whole, in its place or refused before the training: results on devices and behind links, one
# name for two files, a directory with another run's checkpoints, images that are converted, killed and without room.
. "$(dirname "$0")/ranks.sh"
run=("$train" --data "$subset" --net mlp --global-batch 40 --quiet)

# One name for two outputs, a directory, the name -.
expect_refusal 2 'point to the same path' ranks 2 "${run[@]}" --max-steps 3 --metrics "$work/q" --summary-json "$work/q"
[ ! -e "$work/q" ] || fail 'made before it was refused'
mkdir "$work/directory"
for option in --summary-json --timeline; do
  expect_refusal 3 'Is a directory' ranks 2 "${run[@]}" --epochs 100000 "$option" "$work/directory"
done
expect_refusal 2 'is not supported as a file name' "${run[@]}" --max-steps 3 --summary-json -
expect 0 'ddl-train: ok' sh -c '"$@" > "$0"; cat "$0"' "$work/both" "${run[@]}" --max-steps 3 --summary-json /dev/stdout
grep -q '"test_accuracy"' "$work/out" || fail 'no results on stdout'
ln -s far "$work/near"
expect 0 'ddl-train: ok' "${run[@]}" --max-steps 3 --summary-json "$work/near" --timeline "$work/t.json"
[ -L "$work/near" ] && grep -q '"test_accuracy"' "$work/far" || fail 'the link was replaced'
[ -z "$(find "$work" -name '*.tmp*' -o -name '*.part')" ] || fail "left: $(find "$work" -name '*.tmp*' -o -name '*.part')"

# What is printed on a full disk is not called well: little of it, and more than stdio keeps.
for words in --help --version 'print-net resnet-50' 'print-net lenet5' 'allreduce --help' 'timeline --help'; do
  read -ra words <<< "$words"
  "$train" "${words[@]}" > /dev/full 2> "$work/err" < /dev/null
  [ $? -eq 3 ] && grep -q 'cannot write the output: No space left' "$work/err" ||
    fail "${words[*]} on a full disk: $(head -3 "$work/err")"
done

# A device of our own that is always full; the summary comes first.
if mknod "$work/full" c 1 7 2> /dev/null && : 2> /dev/null < "$work/full"; then
  expect 3 'ddl-train: unsaved net=mlp' "${run[@]}" --max-steps 3 --summary-json "$work/full"
  grep -q 'No space left' "$work/err" || fail "the reason is not reported"
  expect_refusal 3 'must be a regular file' "${run[@]}" --max-steps 3 --timeline "$work/full"
  [ -c "$work/full" ] || fail 'the device was replaced'
else
  echo 'left out: no device can be made here'
fi

# Another run's checkpoints: reported, and kept apart.
saving=("${run[@]}" --checkpoint "$work/used" --checkpoint-every 8)
expect 0 'ddl-train: ok' "${saving[@]}" --max-steps 24
before=$(cd "$work/used" && cat ckpt-000024.safetensors | cksum)
expect 0 'ddl-train: ok' "${saving[@]}" --seed 2 --max-steps 24
grep -q 'checkpoints of another run, the newest of step 24' "$work/err" || fail "no word of the other run: $(cat "$work/err")"
grep -q '^  try: --resume' "$work/err" || fail 'nothing to type'
[ "$(cksum < "$work/used/earlier-1/ckpt-000024.safetensors")" = "$before" ] || fail 'the other run lost its last'
expect 0 'ddl-train: ok' "${saving[@]}" --seed 2 --max-steps 32 --resume
! grep -q 'another run' "$work/err" || fail 'its own checkpoints are called another run'
[ ! -e "$work/used/earlier-2" ] || fail 'its own checkpoints were set aside'
expect 0 'ddl-train: ok' "${saving[@]}" --max-steps 32 --resume "$work/used/earlier-1/latest"
expect_refusal 3 'is not a checkpoint' "${run[@]}" --max-steps 3 --resume "$subset/train-labels-idx1-ubyte.gz"

# Converted: TERM leaves nothing, KILL nothing that trains, and the next one goes through.
for signal in TERM KILL; do
  "$train" convert-data synthetic:3x64x64x10:200000 "$work/$signal.lmdb" > /dev/null 2>&1 < /dev/null &
  job=$!
  for _ in $(seq 200); do [ -s "$work/$signal.lmdb.part/unfinished" ] && break; sleep 0.02; done
  kill -s "$signal" "$job"
  wait "$job" 2> /dev/null
  status=$?
  [ "$status" -gt 128 ] || fail "status $status after $signal"
  [ ! -e "$work/$signal.lmdb" ] || fail "$signal leaves an LMDB"
done
[ ! -e "$work/TERM.lmdb.part" ] || fail 'TERM leaves a part'
expect_refusal 3 'no images found' "$train" --data "$work/KILL.lmdb.part" --max-steps 3
expect 0 '1000 images of 1x28x28' "$train" convert-data "$subset" "$work/KILL.lmdb"
[ ! -e "$work/KILL.lmdb.part" ] || fail 'the part of the killed one stays'

# A class that only training has takes its number: of 4x4 zeros, label 1, as protobuf writes a Datum's last two fields.
for file in train/a/1 train/b/1 val/b/1; do
  mkdir -p "$work/set/${file%/1}"
  { printf 'P5 4 4 255\n'; head -c 16 /dev/zero; } > "$work/set/$file.pgm"
done
expect 0 '1 images of 1x4x4' "$train" convert-data "$work/set" "$work/set_test_lmdb" --split test
LC_ALL=C grep -aqP '\x22\x10\x00{16}\x28\x01' "$work/set_test_lmdb/data.mdb" || fail 'the class has another number than in training'

# Without room, to the last byte: an error, never a signal. Each size in a mount that ends with its shell.
cat > "$work/small" << 'END'
mount -t tmpfs -o size="$2" none "$1" || exit 125
if [ "$3" = 0 ]; then head -c "$2" /dev/zero > "$1/filler" 2> /dev/null; fi
shift 3
exec "$@"
END
mkdir "$work/mount"
alone=(unshare -rm)
[ "$(id -u)" -ne 0 ] || alone=(unshare -m)
for case in "64k 0" "64k 1" "200k 1"; do
  read -r size free <<< "$case"
  timeout 60 "${alone[@]}" sh "$work/small" "$work/mount" "$size" "$free" "$train" convert-data "$subset" "$work/mount/l" \
    > "$work/out" 2> "$work/err"
  status=$?
  if [ "$status" -ne 3 ] && ! [ -s "$work/err" ] || grep -q 'unshare\|mount:' "$work/err"; then
    [ "$status" -le 128 ] || fail "signal $((status - 128)) on a disk of $size"
    echo 'left out: no small disk can be mounted here'
    break
  fi
  [ "$status" -eq 3 ] && grep -q 'cannot be .* free on that disk\|No space left' "$work/err" || fail "status $status on a disk of $size: $(cat "$work/err")"
done

# A limit of file sizes is an error with a place, not a signal; nothing half remains.
run sh -c 'ulimit -f 64; exec "$@"' sh "${run[@]}" --max-steps 3 --checkpoint "$work/limited"
[ "$status" -eq 3 ] && grep -q 'File too large' "$work/err" || fail "status $status at a file size limit: $(cat "$work/err")"
[ -z "$(find "$work/limited" -name '*.tmp*' -o -name '*.safetensors')" ] || fail "left: $(ls "$work/limited")"
text=$(sh -c 'ulimit -f 0; exec "$0" print-net lenet5 > "$1"' "$train" "$work/limited.yaml" 2>&1)
status=$?
[ "$status" -eq 3 ] && [[ $text == *'cannot write the output: File too large'* ]] || fail "status $status, printed at a limit: $text"

# TERM, and no room for the checkpoint it asks for: no success, and the last good one is named.
cat > "$work/filled" << 'END'
mount -t tmpfs -o size=16m none "$1" || exit 125
directory=$1
shift
"$@" --checkpoint "$directory/kept" &
job=$!
for _ in $(seq 300); do [ ! -e "$directory/kept/latest" ] || break; sleep 0.1; done
kill -STOP "$job"
cat /dev/zero > "$directory/filler" 2> /dev/null
kill -TERM "$job"
kill -CONT "$job"
wait "$job"
END
run timeout 60 "${alone[@]}" sh "$work/filled" "$work/mount" "${run[@]}" --epochs 100000 --checkpoint-every 500
if grep -q 'unshare\|mount:' "$work/err"; then
  echo 'left out: no small disk can be mounted here'
else
  [ "$status" -eq 3 ] || fail "status $status, stopped without room: $(cat "$work/err")"
  grep -q '^ddl-train: error: stopped by TERM after step [0-9]* of [0-9]*, but not saved: .*No space left' "$work/err" ||
    fail "what became of it is not reported: $(cat "$work/err")"
  grep -q "^  at:  the last good checkpoint: $work/mount/kept/ckpt-[0-9]*\.safetensors$" "$work/err" || fail "no last good one: $(cat "$work/err")"
  [ ! -s "$work/out" ] || fail 'a run that was stopped has a summary'
fi
finish
