# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Sourced by tests, after check.sh: ranks that are started by hand and connect over TCP, without MPI.
(umask 077 && head -c 32 /dev/urandom | base64 > "$work/token")
token=$work/token

# Below the ports that the system gives out; one that is taken is passed over.
port=$((20000 + RANDOM % 8000))
next_port() {
  port=$((port + 1))
  while (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 1)); done
}
# beside_at_port COMMAND...: as beside, with a port of its own
beside_at_port() {
  next_port
  beside "$@"
}
# rank R SIZE HOST COMMAND...: in the background; its pid in pids[R], its streams in $work/said.R. No HOST: this one.
rank() {
  local rank=$1 size=$2 host=$3 place=()
  shift 3
  # shellcheck disable=SC2016
  [ -z "$host" ] || place=(unshare --uts sh -c 'hostname "$0"; exec "$@"' "$host")
  DDL_RANK=$rank DDL_SIZE=$size DDL_MASTER=127.0.0.1:$port DDL_TOKEN_FILE=$token \
    "${place[@]}" "$@" > "$work/said.$rank" 2>&1 < /dev/null &
  pids[rank]=$!
}
# await: the status of each rank in statuses[R]
await() {
  local rank
  statuses=()
  for rank in "${!pids[@]}"; do
    wait "${pids[rank]}" 2> /dev/null
    statuses[rank]=$?
  done
  pids=()
}
