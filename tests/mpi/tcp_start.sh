#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that are started by hand and connect over TCP, without MPI: sums, tokens, strangers, ranks that stay away or die;
# hosts are UTS namespaces of this machine (root, else left out). Nothing listens once all have come, nothing is left
# in /dev/shm.
work_of_test=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/support/check.sh
. "$work_of_test/../support/check.sh"
train=${1:?usage: $0 PATH/TO/ddl-train PATH/TO/tcp_sums PATH/TO/lost_rank} sums=${2:?} lost=${3:?}
unset DDL_RANK DDL_SIZE DDL_MASTER DDL_TOKEN DDL_TOKEN_FILE
export DDL_CACHE=off DDL_OPTIONS='-timeout 20'
for name in $(compgen -e | grep -E '^(OMPI_|PMIX_|PMI_|SLURM_)'); do unset "$name"; done

# shellcheck source=tests/support/tcp_ranks.sh
. "$work_of_test/../support/tcp_ranks.sh"
(umask 077 && head -c 32 /dev/urandom | base64 > "$work/other")
several_hosts=yes
unshare --uts hostname ddlrun-test 2> /dev/null || several_hosts=
[ -n "$several_hosts" ] || echo 'several hosts need root here (unshare --uts): left out'

# says RANK TEXT WHAT: a regular expression
says() { grep -q -- "$2" "$work/said.$1" || fail "$3: rank $1 does not say '$2': $(head -4 "$work/said.$1")"; }
seconds_since() { echo $(($(date +%s) - $1)); }

# Sums on one host, on two of two ranks, on three, on two of unlike numbers.
while read -r shape hosts; do
  [ "$hosts" = '- - - -' ] || [ -n "$several_hosts" ] || continue
  next_port
  pids=() number=0
  read -ra each <<< "$hosts"
  for host in "${each[@]}"; do
    rank "$number" "${#each[@]}" "${host#-}" timeout 60 "$sums"
    number=$((number + 1))
  done
  await
  for ((r = 0; r < number; r++)); do
    says "$r" "^rank $r of $number ($shape): all sums are right$" "sums $shape"
  done
done << 'ROWS'
4x1 - - - -
2x2 h1 h1 h2 h2
1x3 h1 h2 h3
2x2 h1 h2 h1 h2
1x3 h1 h1 h2
ROWS

# ddl-train too; what needs MPI says so.
lenet=("$train" --data "$work_of_test/../data/fashion-mnist-subset" --max-steps 3)
for options in '' '--parameter-servers 1 --async'; do
  next_port
  for r in 0 1; do
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=1 rank "$r" 2 '' timeout 60 "${lenet[@]}" $options
  done
  await
  if [ -z "$options" ]; then
    says 0 'ddl-train: ok .*ranks=2 .*weights=equal' 'ddl-train'
  else
    says 0 'parameter servers need MPI' 'ddl-train'
  fi
done

# Both ranks report different options at once; mode m has no MPI here.
next_port
for r in 0 1; do
  DDL_OPTIONS="-wire $([ "$r" = 0 ] && echo fp16 || echo bf16)" rank "$r" 2 '' timeout 60 "$sums"
done
begun=$(date +%s)
await
for r in 0 1; do
  says "$r" '^error: rank 1 (.*) was started with -wire bfloat16, rank 0 (.*) with -wire float16$' 'unlike wires'
  [ "${statuses[r]}" -eq 1 ] || fail "unlike wires: rank $r ends with ${statuses[r]}"
done
[ "$(seconds_since "$begun")" -le 10 ] || fail "unlike wires: reported after $(seconds_since "$begun") s"
next_port
expect_refusal 1 'mode m is MPI_Allreduce, and these ranks are connected without MPI' env DDL_RANK=0 DDL_SIZE=2 \
  DDL_MASTER=127.0.0.1:"$port" DDL_TOKEN_FILE="$work/token" DDL_OPTIONS='-mode m' "$sums"

# Gradients may be narrowed between hosts, the totals of a step are not.
losses=()
for wire in fp32 bf16 fp16; do
  [ -n "$several_hosts" ] || break
  next_port
  for r in 0 1; do
    OMP_NUM_THREADS=1 rank "$r" 2 "h$r" timeout 60 "${lenet[@]}" --lr 0 --global-batch 300 --grad-dtype "$wire" --metrics "$work/$wire.jsonl"
  done
  await
  says 0 'ddl-train: ok .*ranks=2 .*weights=equal' "ddl-train --grad-dtype $wire"
  losses[${#losses[@]}]=$(sed -n 's/.*"type":"step".*"loss":\([0-9.]*\).*/\1/p' "$work/$wire.jsonl" | tr '\n' ' ')
done
[ -z "$several_hosts" ] || printf '%s\n' "${losses[@]}" | awk '
  NR == 1 { n = split($0, first); next }
  { for (i = 1; i <= n; i++) if ($i < first[i] * 0.99999 || $i > first[i] * 1.00001) wrong = 1; compared += NF }
  END { exit wrong || compared != 6 }' || fail "other losses with narrow wires: ${losses[*]}"

# Words that are refused before anything listens.
next_port
start=(env DDL_RANK=0 DDL_SIZE=2 DDL_MASTER=127.0.0.1:"$port")
expect_refusal 1 'there is no token' "${start[@]}" "$sums"
expect 1 'head -c 32 /dev/urandom | base64 > token; chmod 600 token' "${start[@]}" "$sums"
cp "$work/token" "$work/open" && chmod 644 "$work/open"
expect_refusal 1 "chmod 600 '$work/open'" "${start[@]}" DDL_TOKEN_FILE="$work/open" "$sums"
expect_refusal 1 'port 0 is any port' "${start[@]}" DDL_MASTER=127.0.0.1:0 DDL_TOKEN_FILE="$work/token" "$sums"
expect_refusal 1 'cannot listen at 192.0.2.1' "${start[@]}" DDL_MASTER=192.0.2.1:"$port" DDL_TOKEN_FILE="$work/token" "$sums"
expect_refusal 1 'DDL_MASTER is not' env DDL_RANK=0 DDL_SIZE=2 "$sums"
expect 0 'rank 0 of 1 (1x1): all sums are right' env DDL_RANK=0 DDL_SIZE=1 DDL_MASTER=127.0.0.1:"$port" "$sums"

# A rank with another token and rank 0 both report it; rank 0 names the rank that does not join.
export DDL_OPTIONS='-timeout 3'
next_port
rank 0 2 '' "$sums"
token=$work/other rank 1 2 '' "$sums"
await
says 1 'rank 0 has another token than this rank 1' 'other token'
says 0 'note: 127.0.0.1:[0-9]*, which claims to be rank 1, has another token' 'other token'
says 0 '^error: rank 1 has not come to 127.0.0.1:.* within 3 s; .*another token' 'other token'
[ "${statuses[*]}" = '1 1' ] || fail "other token: statuses ${statuses[*]}"

# Ranks that stay away are named by all that came.
next_port
begun=$(date +%s)
for r in 0 1 4; do rank "$r" 5 '' "$sums"; done
await
for r in 0 1 4; do says "$r" '^error: ranks 2, 3 have not come to' 'stay away'; done
[ "$(seconds_since "$begun")" -le 8 ] || fail "stay away: reported after $(seconds_since "$begun") s"
# Rank 0 stays away.
next_port
rank 1 2 '' "$sums"
await
says 1 'rank 0 did not let rank 1 in at 127.0.0.1:.* within 3 s: Connection refused' 'no rank 0'
# Another size, the same rank twice.
next_port
rank 0 3 '' "$sums"
sleep 0.3
rank 1 2 '' "$sums"
rank 2 3 '' "$sums"
sleep 0.7
DDL_RANK=2 DDL_SIZE=3 DDL_MASTER=127.0.0.1:$port DDL_TOKEN_FILE=$work/token "$sums" > "$work/said.twice" 2>&1
await
says 1 'rank 0 was started for 3 ranks, this rank 1 for 2' 'another size'
says twice 'another process has come to rank 0 as rank 2' 'twice'
says 0 '^error: rank 1 has not come' 'another size'

# Strangers come first: one says nothing, one says rubbish, one leaves at once, one has half a proof. The run goes on,
# each kind is reported once.
export DDL_OPTIONS='-timeout 20'
next_port
begun=$(date +%s)
rank 0 2 '' "$sums"
for _ in $(seq 100); do (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.05; done
exec 7<> "/dev/tcp/127.0.0.1/$port"
for _ in 1 2 3; do (printf 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n' > "/dev/tcp/127.0.0.1/$port") 2> /dev/null; done
exec 8<> "/dev/tcp/127.0.0.1/$port"
printf 'libddl/1 and no more' >&8
sleep 0.3
rank 1 2 '' "$sums"
await
exec 7>&- 8>&-
[ "$(seconds_since "$begun")" -le 10 ] || fail "strangers: $(seconds_since "$begun") s"
for r in 0 1; do says "$r" "all sums are right" 'strangers'; done
[ "$(grep -c 'and is not a rank; connection closed' "$work/said.0")" = 1 ] || fail "strangers: rank 0 says $(head -5 "$work/said.0")"

# Who speaks as ddl/transport/tcp/tcp_handshake.hpp has it is let in, by openssl's HMAC as by ours.
if command -v python3 > /dev/null && command -v openssl > /dev/null; then
  while read -r as size with verdict; do
    next_port
    rank 0 3 '' "$sums"
    for _ in $(seq 100); do (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.05; done
    expect 0 "$verdict" python3 "$work_of_test/knock.py" "127.0.0.1:$port" "$work/$with" "$as" "$size"
    kill "${pids[0]}" 2> /dev/null
    await
  done << 'ROWS'
2 3 token verdict 0 size 3 right HMAC
2 3 other verdict 1 size 3 wrong HMAC
2 4 token verdict 2 size 3 right HMAC
7 3 token verdict 4 size 3 right HMAC
ROWS
  # Who only says that it is rank 0 is found out.
  while read -r with proven said; do
    next_port
    rank 1 2 '' "$sums"
    expect 0 "${proven/./ }" python3 "$work_of_test/knock.py" "127.0.0.1:$port" "$work/$with"
    await
    says 1 "$said" "rank 0 by openssl, $with"
  done << 'ROWS'
token right.HMAC rank.0.*has.ended
other wrong.HMAC does.not.have.the.token
ROWS
else
  echo 'openssl dgst and python3 are missing: a foreign HMAC is left out'
fi

# A rank that dies, leaves, differs or stops inside a sum is named by all others; while they wait no one listens.
listeners() {
  local pid
  for pid in "$@"; do ss -H -ltnp 2> /dev/null | grep "pid=$pid,"; done
}
# Ranks of other tests that start now have names there for a moment.
names_stay() {
  for _ in $(seq 20); do
    found=$(find /dev/shm -name 'libddl-*' | head -2)
    [ -n "$found" ] || return 1
    sleep 0.1
  done
}
meets() { # FATE MOST-SECONDS MODE HOST...
  local fate=$1 most=$2 mode=$3 each=("${@:4}") begun r found
  begun=$(date +%s)
  export DDL_OPTIONS="-mode $mode"
  for r in 0 1 2 3; do rank "$r" 4 "${each[r]#-}" "$lost" "$fate" 100000; done
  if [ "$fate" = stop ]; then
    sleep 2
    found=$(listeners "${pids[@]}")
    [ -z "$found" ] || fail "$fate $mode: still listens: $found"
    ! names_stay || fail "$fate $mode: in /dev/shm: $found"
    for r in 0 2 3; do wait "${pids[r]}"; done
    kill -KILL "${pids[1]}"
  fi
  await
  for r in 0 2 3; do
    says "$r" '^reported after' "$fate $mode"
    says "$r" '^  at:  \(rank [02-9] (h[0-9]), \)\?rank 1 (' "$fate $mode"
  done
  [ "$fate" != stop ] || says 0 ' all_reduce #21 (max) of 100000 float32 "conv1"' "$fate $mode"
  [ "$fate" != shape ] || says 0 'rank 1 (h2) calls all_reduce #21 (sum) of 999 float32 "conv1"' "$fate $mode"
  [ "$fate" != exit ] || says 0 'rank 1 (h2) ended by exit() with its Context alive, before it came to all_reduce #21 ' "$fate $mode"
  [ "$fate" != return ] || says 0 'rank 1 (h2) makes no more calls, and this is all_reduce #21 ' "$fate $mode"
  [ "$(seconds_since "$begun")" -le "$most" ] || fail "$fate $mode: $(seconds_since "$begun") s"
}
while read -r fate most mode hosts; do
  [ "${hosts:0:1}" = - ] || [ -n "$several_hosts" ] || continue
  read -ra each <<< "$hosts"
  beside_at_port meets "$fate" "$most" "$mode" "${each[@]}"
done << 'ROWS'
kill 5 b:4x1 - - - -
stop 12 b:4x1 - - - -
kill 5 r:1x4 h1 h2 h3 h4
kill 5 b:2x2 h1 h1 h2 h2
leave 5 b:1x4 h1 h2 h3 h4
exit 5 b:1x4 h1 h2 h3 h4
return 5 b:1x4 h1 h2 h3 h4
type 5 b:2x2 h1 h1 h2 h2
shape 5 b:1x4 h1 h2 h3 h4
stop 15 r:1x4 h1 h2 h3 h4
stop 15 b:2x2 h1 h1 h2 h2
ROWS
all_done
command -v ss > /dev/null || echo 'ss is missing (apt-get install iproute2): who listens was not looked at'
export DDL_OPTIONS='-timeout 20'

# One is killed while all start: the others report it without waiting, and no name stays in /dev/shm.
export DDL_OPTIONS='-timeout 2'
for delay in 0.00 0.01 0.02 0.03 0.05 0.08; do
  next_port
  for r in 0 1 2; do rank "$r" 3 '' "$sums"; done
  sleep "$delay"
  kill -KILL "${pids[${delay: -1} % 2]}" 2> /dev/null
  await
done
! names_stay || fail "left in /dev/shm: $found"
finish
