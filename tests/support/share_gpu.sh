#!/bin/bash
# SPDX-License-Identifier: MIT
# share_gpu.sh RANKS PROGRAM [ARGUMENT...]: the ranks of a program on GPU 0 with NCCL between them. NCCL refuses ranks of one
# host that share a GPU; it takes ranks with different NCCL_HOSTID for ranks of several hosts and connects them by sockets.
# NCCL=no: without NCCL_HOSTID, so that NCCL cannot be used. GPUS=all: each rank has a GPU of its own. No MPI is needed.
token=$(mktemp)
trap 'rm "$token"' EXIT
head -c 32 /dev/urandom | base64 > "$token"
shared=(CUDA_VISIBLE_DEVICES=0)
[ "${GPUS:-}" != all ] || { shared=(); NCCL=no; }
export NCCL
as_rank='[ "$NCCL" = no ] || export NCCL_HOSTID=$RANK
exec "$0" "$@"'
"${DDLRUN:?}" -q launch "$1x1" localhost --launcher ssh --oversubscribe --map-by packages -x DDL_TOKEN_FILE="$token" -- \
  env "${shared[@]}" NCCL_SOCKET_IFNAME=lo sh -c "$as_rank" "${@:2}"
