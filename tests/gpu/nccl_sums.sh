#!/bin/bash
# SPDX-License-Identifier: MIT
# On a machine with NVIDIA GPUs: every type, operation and call of libddl in GPU memory by NCCL, as many ranks as GPUs (and
# one), and ddl-bench's way over them.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
sums=${1:?usage: $0 PATH/TO/gpu_sums_cuda PATH/TO/ddl-bench}
bench=${2:?}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
skip() {
  echo "skipped: $1"
  exit 125
}
command -v nvidia-smi > /dev/null || skip "no nvidia-smi, so no NVIDIA driver"
gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader 2> /dev/null | grep -c '^[0-9]') || skip "nvidia-smi lists no GPU"
[ -e "$DDLRUN_BUILD_DIR/lib/ddlrun/libddl_cuda.so" ] || skip "libddl_cuda.so was not built"

mkdir -p "$work/bin" "$work/lib/ddlrun"
cp "$sums" "$work/bin/gpu_sums"
cp "$DDLRUN_BUILD_DIR"/lib/ddlrun/libddl_mpi_*.so "$work/lib/ddlrun"
cp "$DDLRUN_BUILD_DIR/lib/ddlrun/libddl_cuda.so" "$work/lib/ddlrun"
sums=$work/bin/gpu_sums
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
  [ "$gpus" -lt 2 ] || right "$gpus" env DDL_OPTIONS="$options" mpirun --oversubscribe --bind-to none -n "$gpus" "$sums"
done
# Hosts that are threads of one process, a GPU each.
[ "$gpus" -lt 4 ] || right 4 env DDL_OPTIONS='-mode n:4x1' "$sums" h1,h1,h1,h1
expect 0 'nccl: sums in GPU memory' timeout 300 mpirun --oversubscribe --bind-to none -n "$gpus" "$bench" allreduce \
  --sizes 4k,1M,64M --seconds 0.2 --backends nccl --check
grep ' nccl ' "$work/out"
finish
