#!/bin/bash
# SPDX-License-Identifier: MIT
# The network of a launch over several hosts: chosen by what they share, overruled by the user, and really used: judged
# by the interfaces' own counters.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
lab_up 3

launch() { on node1 "$tool" launch 1x3x1 'node[1-3]' --no-monitor "$@"; }
dry() { launch --dry-run "$@" -- true > "$work/dry" 2> "$work/err"; }
has() { grep -qF -- "$1" "$work/dry" || fail "no '$1' in the dry run: $(tail -n 1 "$work/dry" | cut -c1-300)"; }
lacks() { ! grep -qF -- "$1" "$work/dry" || fail "'$1' in the dry run: $(tail -n 1 "$work/dry" | cut -c1-300)"; }
received() { on "$1" cat "/sys/class/net/$2/statistics/rx_bytes"; }

# Two networks alike: the one to which the names lead.
dry
has "--mca btl_tcp_if_include 10.1.1.0/24"
has "--mca oob_tcp_if_include 10.1.1.0/24"
has "NCCL_SOCKET_IFNAME=eth0"
has "GLOO_SOCKET_IFNAME=eth0"
has "# network 10.1.1.0/24: of 2 that all 3 hosts share"

# What the user says holds.
dry --interface ib0
has "--mca btl_tcp_if_include 10.9.1.0/24"
has "UCX_NET_DEVICES=ib0"
dry --interface 10.9.1.0/24
has "--mca btl_tcp_if_include 10.9.1.0/24"
dry --interface none
lacks if_include
lacks SOCKET_IFNAME
dry --mca btl_tcp_if_exclude lo
lacks if_include
on node1 env NCCL_SOCKET_IFNAME=mine "$tool" launch 1x3x1 'node[1-3]' --dry-run -- true > "$work/dry"
lacks "NCCL_SOCKET_IFNAME=eth0"
has "--mca btl_tcp_if_include 10.1.1.0/24"
expect_refusal 3 "no host has eth7" launch --interface eth7 -- true

# Interfaces' names differ: the network is the same.
as_root node3 sh -c 'ip link set eth0 down && ip link set eth0 name ens7 && ip link set ens7 up'
dry
has "--mca btl_tcp_if_include 10.1.1.0/24"
has "NCCL_SOCKET_IFNAME=eth0,ens7"
lacks UCX_NET_DEVICES
as_root node3 sh -c 'ip link set ens7 down && ip link set ens7 name eth0 && ip link set eth0 up'

# A bridge with the same address on every host leads nowhere, and the second network is down on one.
for host in node1 node2 node3; do
  as_root "$host" sh -c 'ip link add docker0 type bridge && ip addr add 172.17.0.1/16 dev docker0 && ip link set docker0 up'
done
lab link node2 ib0 down
dry
has "--mca btl_tcp_if_include 10.1.1.0/24"
has "the only network that all 3 hosts share"
launch -- hostname > "$work/out" 2> "$work/err" || fail "with docker0 everywhere: $(tail -n 3 "$work/err")"
same "hosts" "node1 node2 node3" "$(sort "$work/out" | xargs)"
expect_refusal 3 "down on node2" launch --interface ib0 -- true
lab link node2 ib0 up

# It is used: the data of the job crosses the chosen network and not the other.
if command -v mpicc > /dev/null; then
  cat > "$work/send.c" << 'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  enum { bytes = 8 << 20 };
  char *block = calloc(bytes, 1);
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 4; ++i) MPI_Bcast(block, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
  mpicc -o "$lab_home/bin/send" "$work/send.c" || fail "mpicc"
  for pair in "ib0 eth0" "eth0 ib0"; do
    read -r used other <<< "$pair"
    before_used=$(received node2 "$used") before_other=$(received node2 "$other")
    launch --interface "$used" -x OMPI_MCA_mpi_yield_when_idle=1 -- /home/ddl/bin/send > "$work/out" 2> "$work/err" ||
      fail "launch over $used: $(tail -n 3 "$work/err")"
    on_used=$(($(received node2 "$used") - before_used)) on_other=$(($(received node2 "$other") - before_other))
    echo "--interface $used: node2 received $((on_used >> 20)) MiB there, $((on_other >> 20)) MiB by $other"
    [ "$on_used" -gt $((24 << 20)) ] || fail "$used carried only $on_used bytes"
    [ "$on_other" -lt $((8 << 20)) ] || fail "$other carried $on_other bytes"
  done
fi
finish
