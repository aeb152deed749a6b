#!/bin/bash
# SPDX-License-Identifier: MIT
# On a machine with NVIDIA GPUs: every type, operation and call of libddl in GPU memory by NCCL: one rank, as many ranks as GPUs,
# and two and four ranks that share a GPU; and ddl-bench's way over them.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
sums=${1:?usage: $0 PATH/TO/gpu_sums_cuda PATH/TO/gpu_faults_cuda PATH/TO/ddl-bench}
faults=${2:?}
bench=${3:?}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
skip() {
  echo "skipped: $1"
  exit 125
}
command -v nvidia-smi > /dev/null || skip "no nvidia-smi, so no NVIDIA driver"
gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader 2> /dev/null | grep -c '^[0-9]') || skip "nvidia-smi lists no GPU"
share_gpu=$(dirname "$(readlink -f "$0")")/../support/share_gpu.sh
right() {
  local count=$1
  shift
  expect 0 '' timeout 300 "$@"
  [ "$(grep -c ' as expected$' "$work/out")" -eq "$count" ] || fail "not $count ranks: $(cat "$work/out" "$work/err")"
  ! grep -v ' \([0-9]*\) of \1 as expected$' "$work/out" || fail "wrong sums: $*: $(head -5 "$work/err")"
  cat "$work/out"
}
run "$sums" c
grep -q 'NCCL cannot be loaded' "$work/err" && skip "no libnccl.so.2 that can be loaded"
right 1 "$sums" c
right 1 "$sums"
for options in '-mode n' '-mode b -nccl levels'; do
  right 1 env DDL_OPTIONS="$options" "$sums"
  [ "$gpus" -lt 2 ] || right "$gpus" env DDL_OPTIONS="$options" GPUS=all "$share_gpu" "$gpus" "$sums"
done
for ranks in 2 4; do
  for options in '-mode n' "-mode n:1x$ranks -nccl levels"; do
    right "$ranks" env DDL_OPTIONS="$options" "$share_gpu" "$ranks" "$sums"
  done
done
# The other rank is killed or stopped, makes another call, or comes late.
expect 0 'all sums are made' timeout 100 "$share_gpu" 2 "$faults" none
while IFS='|' read -r fate text; do
  run env LINGER=1 timeout 100 "$share_gpu" 2 "$faults" "$fate"
  [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "$fate: status $status"
  grep -q "$text" "$work/err" || fail "$fate: no '$text' in: $(grep -A1 -m4 'reported\|signal' "$work/err")"
done << 'END'
kill|rank 1
stop|rank 1 (.*) has not come to all_reduce #21 (max) of 1000 float32 "conv1"
shape|rank 1 (.*) calls all_reduce #21 (.*) of 999 float32 "conv1", rank 0
memory|rank 1 (.*) calls all_reduce #21 (sum) of 1000 float32 "conv1", rank 0 (.*) calls all_reduce #21 (max) of
busy|rank 1 (.*) has not computed its input yet
END
run env STALL=1 timeout 100 "$share_gpu" 2 "$faults" late
[ "$status" -eq 0 ] || fail "late: status $status: $(head -3 "$work/err")"
grep -q 'waits for rank 1 (.*: its stream has not reached the sum' "$work/err" || fail "late: $(head -3 "$work/err")"
# Hosts that are threads of one process, a GPU each.
[ "$gpus" -lt 4 ] || right 4 env DDL_OPTIONS='-mode n:4x1' "$sums" h1,h1,h1,h1
# Without mpirun ddl-bench is one rank.
ranks_of_bench=()
[ "$gpus" -lt 2 ] || ! command -v mpirun > /dev/null || ranks_of_bench=(mpirun --oversubscribe --bind-to none -n "$gpus")
expect 0 'nccl: sums in GPU memory' timeout 300 "${ranks_of_bench[@]}" "$bench" allreduce \
  --sizes 4k,1M,64M --seconds 0.2 --backends nccl --check
grep ' nccl ' "$work/out"
finish
