#!/bin/bash
# SPDX-License-Identifier: MIT
# wire_speed.sh DDL_BENCH: sums between virtual hosts (tests/cluster, root) whose wires take RATE (1gbit): libddl in float32 and
# bfloat16, Open MPI's default, its HAN, and Gloo, in one run for each shape and order of ranks. SHAPES: "DIMS:HOSTS ..."
# (default "1x4x1:4 2x2x1:2 2x2x2:4": as many ranks a host as all ranks over hosts), ORDERS: "node slot" (DDL's order, packed),
# SIZES (1M,16M), SECONDS_EACH (1).
set -eu
bench=$(readlink -f "${1:?usage: wire_speed.sh PATH/TO/ddl-bench}")
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d /var/tmp/ddlrun-wire.XXXXXX)
chmod 755 "$work"
lab() { LAB_DIR=$work/lab "$here/../tests/cluster/lab.sh" "$@"; }
finish() {
  lab down > /dev/null
  rm -rf --one-file-system "$work"
}
trap finish EXIT
lab up 4 > /dev/null
install -D -m 755 "$bench" "$work/lab/home/ddl/bin/ddl-bench"
install -D -m 755 -t "$work/lab/home/ddl/lib/ddlrun" "${bench%/*}"/../../lib/ddlrun/libddl_{bench,mpi}_*.so
for host in node1 node2 node3 node4; do lab rate "$host" eth0 "${RATE:-1gbit}"; done

# run ORDER HOSTS RANKS_A_HOST DIMS WAYS [MCA...]
run() {
  local order=$1 hosts="" ranks=$3 dims=$4 ways=$5 i
  for ((i = 1; i <= $2; i++)); do hosts+=${hosts:+,}node$i:$ranks; done
  shift 5
  lab exec node1 -u ddl -- mpirun --host "$hosts" --map-by "$order" --bind-to none --mca mpi_yield_when_idle 1 \
    --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 -x "DDL_OPTIONS=-mode b:$dims" "$@" \
    /home/ddl/bin/ddl-bench allreduce --sizes "${SIZES:-1M,16M}" --backends "$ways" --seconds "${SECONDS_EACH:-1}" \
    --gloo-interface eth0
}
for shape in ${SHAPES:-1x4x1:4 2x2x1:2 2x2x2:4}; do
  dims=${shape%:*} hosts=${shape#*:}
  ranks=$(($(echo "$dims" | tr x '*') / hosts))
  for order in ${ORDERS:-node slot}; do
    echo "== $dims on $hosts hosts of $ranks, --map-by $order"
    run "$order" "$hosts" "$ranks" "$dims" ddl,ddl-bf16,mpi,gloo | grep -E '^ +[0-9#]'
    echo "   with HAN"
    run "$order" "$hosts" "$ranks" "$dims" ddl,mpi --mca coll_han_priority 100 | grep -E '^ +[0-9#]'
  done
done
