#!/bin/bash
# SPDX-License-Identifier: MIT
# Sums of tensors in GPU memory, with a CUDA runtime and an NCCL that are played: libddl's own way to them, its plug-in,
# streams, communicators, and what is said when something is missing, or a rank in the middle of a sum.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
sums=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/gpu_sums PATH/TO/gpu_faults DIRECTORY/OF/FAKES}
faults=$3
fakes=$4

linked=$(ldd "$DDLRUN_BUILD_DIR/ddl/libddl.so" "$sums" | grep -E 'libcuda|libcudart\.|libnccl')
[ -z "$linked" ] || fail "linked to CUDA: $linked"

mkdir -p "$work/bin" "$work/lib/ddlrun" "$work/nccl" "$work/no_nccl"
cp "$sums" "$faults" "$work/bin"
cp "$DDLRUN_BUILD_DIR"/lib/ddlrun/libddl_{mpi,bench}_*.so "$work/lib/ddlrun"
sums=$work/bin/gpu_sums
faults=$work/bin/gpu_faults
plugin=$work/lib/ddlrun/libddl_cuda.so
export FAKE_NCCL=$work/nccl

# The plug-in: none, damaged, foreign, of another build; on all ranks, also in mode n.
none="sums on GPUs need libddl's plug-in libddl_cuda.so, which is not installed"
expect_refusal 1 "$none" "$sums"
expect_refusal 1 "$none" ranks 2 "$sums"
expect_refusal 1 "$none" env DDL_OPTIONS='-mode n' "$sums"
echo 'no library' > "$plugin"
expect_refusal 1 'the plug-in for GPUs cannot be loaded: ' "$sums"
cp "$fakes/libnccl.so.2" "$plugin"
expect_refusal 1 'not a plug-in of libddl: it lacks ddl_gpu_build' "$sums"
cp "$fakes/other/libddl_cuda.so" "$plugin"
expect_refusal 1 'the plug-in for GPUs is of build 0.0.1 (' "$sums"
grep -q 'try: install both from the same build' "$work/err" || fail "not what to do: $(cat "$work/err")"
cp "$fakes/libddl_cuda.so" "$plugin"
foreign='the plug-in for GPUs is not loaded: another user can write to it or to its directory'
for file in "$plugin" "$work/lib/ddlrun"; do
  chmod o+w "$file"
  expect_refusal 1 "$foreign" "$sums"
  chmod o-w "$file"
  [ "$(id -u)" -eq 0 ] || continue
  chown 65534 "$file"
  expect_refusal 1 "$foreign" "$sums"
  chown 0 "$file"
done

# NCCL: a loader that fails, too old; the driver; GPUs.
expect_refusal 1 'NCCL cannot be loaded: ' env LD_LIBRARY_PATH="$fakes/broken" "$sums"
export LD_LIBRARY_PATH=$fakes${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
expect_refusal 1 'NCCL 2.10.3 is too old: 2.14.3 or newer is needed' env FAKE_NCCL_VERSION=21003 "$sums"
export DDL_OPTIONS='-mode n'
expect_refusal 1 'there is no NVIDIA driver on this host' env FAKE_DRIVER=none "$sums"
expect_refusal 1 'no GPU is visible to this rank' env FAKE_GPUS=0 "$sums"
expect_refusal 1 'local rank 2 has no GPU: this host has 2 visible GPUs, counted from 0' env FAKE_GPUS=2 timeout 60 "${launcher[@]}" -n 3 "$sums"
expect_refusal 1 'use the same GPU (fake GPU), and NCCL needs one for each rank' env FAKE_GPUS=1 timeout 60 "${launcher[@]}" -n 2 "$sums"
unset DDL_OPTIONS

rm -f "$work/nccl"/fake_nccl.*  # ids that no rank read
# Every type, operation and call; chosen by the first tensor, and in mode n.
right() {
  local count=$1
  shift
  expect 0 '' "$@"
  [ "$(grep -c ' as expected$' "$work/out")" -eq "$count" ] || fail "not $count ranks: $(cat "$work/out")"
  ! grep -v ' \([0-9]*\) of \1 as expected$' "$work/out" || fail "wrong sums: $*"
  ! grep 'fake NCCL' "$work/err" || fail "NCCL is used wrongly: $*"
}
for count in 1 2 4; do
  right "$count" ranks "$count" "$sums"
done
grep -q '^rank 3 of 4 on cuda:3 (fake GPU) (4x1): ' "$work/out" || fail "not where: $(cat "$work/out")"
right 2 env DDL_OPTIONS='-mode n -dev_sync 2' timeout 60 "${launcher[@]}" -n 2 "$sums"
right 2 ranks 2 "$sums" c
# NCCL takes ranks with different NCCL_HOSTID for ranks of several hosts: they may share a GPU.
right 2 env FAKE_GPUS=1 "$DDLRUN_SOURCE_DIR/tests/support/share_gpu.sh" 2 "$sums"
# Every fifth sum is reported, with the last GPU: here the stream of rank 1, by 2 s in the first of the last 20.
expect 0 'all sums are made' env DDL_OPTIONS='-dump_iter 5' timeout 60 "${launcher[@]}" -n 3 "$faults" late
[ "$(grep -c '^ddl: 5 sums on GPUs: NCCL [0-9.e+-]* GB/s; last to come: rank [0-2] (.*), others wait ' "$work/err")" -eq 8 ] ||
  fail "not 8 reports: $(head "$work/err")"
sed -n '/^ddl:/p' "$work/err" | sed -n 5p | grep -q 'last to come: rank 1 (.*), others wait [34][0-9]* ms a sum' ||
  fail "not who came last: $(sed -n '/^ddl:/p' "$work/err" | sed -n 5p)"
# Hosts that are threads: one communicator, and one for each of the dims.
for options in '-nccl all' '-nccl levels' '-mode n:2x2 -nccl levels'; do
  right 4 env DDL_OPTIONS="$options" timeout 60 "$sums" h1,h1,h2,h2
done
right 8 env DDL_OPTIONS='-mode b:2x2x2 -nccl levels' timeout 60 "$sums" h1,h1,h2,h2,h3,h3,h4,h4
right 3 env DDL_OPTIONS='-nccl levels' timeout 60 "$sums" h1,h2,h3
[ -z "$(ls "$work/nccl")" ] || fail "communicators are left: $(ls "$work/nccl")"

# ddl-bench's way.
cp "$DDLRUN_BUILD_DIR/bench/ddl_bench/ddl-bench" "$work/bin"
expect 0 'nccl: sums in GPU memory' ranks 2 "$work/bin/ddl-bench" allreduce --sizes 4k,64k --seconds 0.01 --backends nccl --check
grep -q '# all elements right' "$work/out" || fail "ddl-bench: $(cat "$work/out")"

# A rank that goes or differs: fate before NCCL, fate in it, most seconds until a report, what rank 0 or 2 must
# say. A whole run says nothing about that: how long mpirun takes is the machine's.
expect 0 'all sums are made' ranks 3 "$faults" none
own_nccl() { mkdir "$work/nccl" && export FAKE_NCCL=$work/nccl; }
meets() { # FATE INSIDE SECONDS TEXT
  local fate=$1 inside=$2 seconds=$3 text=$4
  own_nccl
  run env ${inside:+FAKE_FATE="$inside"} timeout 100 "${launcher[@]}" -n 3 "$faults" "$fate"
  [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "$fate $inside: status $status"
  grep -q "$text" "$work/err" || fail "$fate $inside: no '$text' in: $(grep -A1 -m4 'reported\|signal' "$work/err")"
  awk -v most="$seconds" '/^reported after/ && $3 > most { late = 1 } END { exit late }' "$work/err" ||
    fail "$fate $inside: $(grep -o 'reported after [0-9.]* s' "$work/err"), not $seconds"
}
while IFS='|' read -r fate inside seconds text; do beside meets "$fate" "$inside" "$seconds" "$text"; done << 'END'
kill||5|rank 1
stop||5|rank 1 (.*) has not come to all_reduce #21 (max) of 1000 float32 "conv1"
shape||5|rank 1 (.*) calls all_reduce #21 (.*) of 999 float32 "conv1", rank 0
memory||5|rank 1 (.*) calls all_reduce #21 (sum) of 1000 float32 "conv1", rank 0 (.*) calls all_reduce #21 (max) of
busy||5|rank 1 (.*) has not computed its input yet
none|kill 1 20|5|rank 1
none|stop 1 20|5|rank 1 (.*) does not answer in all_reduce #20 (max) of 1000 float32 "conv1" on GPUs; process [0-9]* is stopped; it has not ended
none|stop 1 1|6|rank 1 (.*) does not answer in all_reduce #1 (max) of 1000 float32 "conv1" on GPUs; process [0-9]* is stopped
none|hang 1 20|5|all_reduce #20 (max) of 1000 float32 "conv1" on GPUs did not complete: it has not ended within 3 s; all ranks respond
none|error 1 20|5|on GPUs did not complete: NCCL: remote process exited or there was a network error
END

# The first rank that waits reports for whom: a late stream, a stopped rank; if all respond, no rank.
tellers() { sed -n "s/^\([0-9]*\) $1.*/\1/p" "$work/err" | sort -u | wc -l; }
waits() { # FATE INSIDE STATUS_IS TEXT
  local fate=$1 inside=$2 status_is=$3 text=$4 expected
  own_nccl
  run env STALL=1 ${inside:+FAKE_FATE="$inside"} timeout 100 "${launcher[@]}" -n 3 "$faults" "$fate"
  [ "$((status != 0))" -eq "$status_is" ] || fail "$fate $inside: status $status: $(head -3 "$work/err")"
  expected=$([ -z "$text" ] || echo 1)
  [ "$(tellers "waits for $text")" -eq "${expected:-0}" ] || fail "$fate $inside: not '$text' from one rank: $(head -5 "$work/err")"
  [ "$status" -ne 0 ] || [ "$(tellers "sees again $text")" -eq 1 ] || fail "$fate: not that it came: $(cat "$work/err")"
}
while IFS='|' read -r fate inside status_is text; do beside waits "$fate" "$inside" "$status_is" "$text"; done << 'END'
late||0|rank 1 (.*), all_reduce #21 of 1000 float32 on GPUs (conv1): its stream has not reached the sum
none|stop 1 20|1|rank 1 (.*), all_reduce #20 of 1000 float32 on GPUs (conv1): process [0-9]* is stopped
none|hang 1 20|1|
END
all_done

# Hosts are UTS namespaces: levels over MPI; the liveness inspector finds a rank that stops inside NCCL.
unshare --uts hostname ddlrun-test 2> /dev/null || { echo 'several hosts need root here (unshare --uts): left out'; finish; exit 0; }
[[ ${launcher[*]} == *--oversubscribe* ]] || { echo 'several hosts need Open MPI here: left out'; finish; exit 0; }
spread=(--mca if_base_do_not_resolve 1 --mca plm_rsh_agent "$DDLRUN_SOURCE_DIR/tests/support/uts_ssh.sh"
  -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM -x LD_LIBRARY_PATH -x FAKE_NCCL)
right 4 timeout 60 "${launcher[@]}" --host h1:2,h2:2 -n 4 "${spread[@]}" -x DDL_OPTIONS='-nccl levels' "$sums"
cat > "$work/rank" << 'RANK'
#!/bin/sh
echo $$ > "$1/pid.$OMPI_COMM_WORLD_RANK"
exec 2> "$1/said.$OMPI_COMM_WORLD_RANK"
shift
exec "$@"
RANK
chmod +x "$work/rank"
"${launcher[@]}" --host h1:1,h2:1,h3:1 -n 3 "${spread[@]}" -x LINGER=1 -x STALL=1 -x FAKE_FATE='stop 1 20' \
  "$work/rank" "$work" "$faults" none > "$work/out" 2> "$work/err" < /dev/null &
job=$!
for _ in $(seq 200); do
  [ "$(grep -ls '^  at:' "$work"/said.* | wc -l)" -lt 2 ] || break
  sleep 0.1
done
{ kill -KILL "$job"; wait "$job"; } 2> /dev/null  # its daemons end with it
for pid in "$work"/pid.*; do kill -KILL "$(cat "$pid")" 2> /dev/null; done
for rank in 0 2; do
  grep -q 'reported after [0-9]\.[0-9] s: rank 1 (h2) does not respond in all_reduce #20' "$work/said.$rank" ||
    fail "hosts: rank $rank does not name rank 1: $(head -2 "$work/said.$rank" 2>&1)"
  grep -q '^[0-9]* waits for rank 1 (h2), all_reduce #20 .* on GPUs (conv1): does not respond' "$work/said.$rank" ||
    fail "hosts: rank $rank does not tell that it waits: $(head -2 "$work/said.$rank" 2>&1)"
done
finish
