#!/bin/bash
# SPDX-License-Identifier: MIT
# --device cuda and auto without a GPU: ddl-train starts without CUDA's libraries, and says what is missing; and with a
# plug-in that only plays one: who gets which GPU, how gradients are summed, what --lms hands on.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
fake=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/fake_gpu.so}
short=(--data "$subset" --global-batch 40 --max-steps 20 --quiet)
once() { [ "$(grep -c '^ddl-train: error:' "$work/err")" -eq 1 ] || fail "not exactly one error: $(cat "$work/err")"; }
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*/\1/p' "$work/out"; }

linked=$(ldd "$train" | grep -E 'libcuda|libcudart|libcudnn|libcublas|libnccl')
[ -z "$linked" ] || fail "ddl-train is linked to CUDA: $linked"

# The plug-in of this build, on a machine without a driver.
if [ -e "$(dirname "$train")/../lib/ddlrun/ddl_train_cuda.so" ] && [ ! -e /dev/nvidiactl ]; then
  for count in 1 2; do
    expect_refusal 3 'no NVIDIA driver on this host' ranks "$count" "$train" --data "$subset" --device cuda
    once
    grep -q 'try: nvidia-smi; or --device cpu' "$work/err" || fail "not what to type: $(cat "$work/err")"
  done
  expect 0 'device: cpu: --device auto found no GPU: rank 0: no NVIDIA driver' \
    ranks 2 "$train" "${short[@]:0:6}" --device auto
else
  echo "without the part on a missing driver: there is one, or no plug-in was built"
fi

# A copy of the program finds its plug-in beside it: none, damaged, of another build.
mkdir -p "$work/bin" "$work/lib/ddlrun" "$work/sums"
cp "$train" "$work/bin/ddl-train"
cp "$(dirname "$train")"/../lib/ddlrun/libddl_mpi_*.so "$work/lib/ddlrun"
copy=$work/bin/ddl-train
plugin=$work/lib/ddlrun/ddl_train_cuda.so
expect_refusal 3 'built without its CUDA plug-in' "$copy" --data "$subset" --device cuda
expect_refusal 3 'built without its CUDA plug-in' ranks 2 "$copy" --data "$subset" --device cuda
once
grep -q "at:  $plugin" "$work/err" || fail "not where it should be: $(cat "$work/err")"
echo 'no library' > "$plugin"
expect_refusal 3 'cannot load the plug-in' "$copy" --data "$subset" --device cuda
cp "$fake" "$plugin"
expect_refusal 3 'the CUDA plug-in is of build 0.0.1 (another), ddl-train of build ' \
  env FAKE_BUILD='0.0.1 (another)' "$copy" --data "$subset" --device cuda
grep -q 'try: install both from the same build' "$work/err" || fail "not what to do: $(cat "$work/err")"

# Output and weights with fake GPUs: the weights of the CPU.
expect 0 '' ranks 2 "$copy" "${short[@]}"
want=$(hash_of)
expect 0 '' ranks 2 "$copy" "${short[@]:0:6}" --device cuda --lms 8
[ "$(hash_of)" = "$want" ] || fail 'other weights when the hosts sum'
for rank in 0 1; do
  grep -q "^fake: device $rank, kept 8192, rank 0 of 1$" "$work/err" || fail "rank $rank: $(grep fake: "$work/err")"
done
grep -q 'device: GPU 0 (fake, .* for rank 0, and 1 more; all-reduce through host memory: rank 0 (.*): NCCL is missing' "$work/err" ||
  fail "not how sums go: $(grep device: "$work/err")"
grep -q 'lms: activations larger than 8 kB are kept in host memory' "$work/err" || fail 'not what --lms does'
at=0
for way in '--optimizer-placement host' '--optimizer-placement rank' '--overlap on --bucket-kb 4'; do
  at=$((at + 1))
  mkdir "$work/sums/$at"
  # shellcheck disable=SC2086
  expect 0 '; all-reduce by NCCL' env FAKE_NCCL="$work/sums/$at" "${launcher[@]}" -n 2 "$copy" "${short[@]:0:6}" $way --device cuda
  [ "$(hash_of)" = "$want" ] || fail "$way: other weights when GPUs sum"
  grep -q '^fake: device 1, kept 18446744073709551615, rank 1 of 2$' "$work/err" || fail "$way: $(grep fake: "$work/err")"
  [ -e "$work/sums/$at/19.1" ] || fail "$way: GPUs have not summed 20 times"
done
# One GPU that both see; none; and a server, which needs none.
expect 0 ': ranks 0 and 1 share GPU 0' env FAKE_GPUS=1 FAKE_NCCL="$work/sums" "${launcher[@]}" -n 2 "$copy" \
  "${short[@]:0:6}" --device cuda
[ "$(hash_of)" = "$want" ] || fail 'other weights with a GPU that is shared'
expect_refusal 3 'this rank sees no GPU' env FAKE_GPUS=0 "$copy" --data "$subset" --device cuda
expect_refusal 3 'this rank needs GPU 2, but sees only 2 GPU(s)' ranks 3 "$copy" --data "$subset" --device cuda
expect 0 ' workers=2 servers=1 ' ranks 3 "$copy" "${short[@]}" --device cuda --parameter-servers 1
[ "$(grep -c '^fake: device' "$work/err")" -eq 2 ] || fail "who got a GPU: $(grep fake: "$work/err")"
expect 0 'device: GPU 0 (fake, 0000:00:00.0) of ' "$copy" "${short[@]:0:6}" --device auto
finish
