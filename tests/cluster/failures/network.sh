# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Interfaces and shared memory.
kind interface_absent C20 "$h2" - "btl_tcp_if_include names an interface that one host has not"
break_interface_absent() {
  as_root "$h2" ip link set ib0 down
  as_root "$h2" ip link set ib0 name ib9
  undo interface_again "$h2" ib9
  broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca btl_tcp_if_include ib0 bin/worker
}
interface_again() {
  as_root "$1" ip link set "$2" name ib0
  as_root "$1" ip link set ib0 up
}
kind interface_nowhere C20 - - "btl_tcp_if_include names an interface that no host has"
break_interface_nowhere() { broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca btl_tcp_if_include hsn0 bin/worker; }
kind interface_down C20 "$h2" - "the interface named is down on one host"
break_interface_down() {
  lab link "$h2" ib0 down
  undo lab link "$h2" ib0 up
  broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca btl_tcp_if_include ib0 bin/worker
}
kind oob_interface_nowhere C19 - - "oob_tcp_if_include names an interface that no host has"
in_mpi_5 oob_interface_nowhere "C19|C35|Z6" # PRRTE 3.0.8 does not always get to print its message
break_oob_interface_nowhere() {
  broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca oob_tcp_if_include hsn0 bin/worker
  silent_in_mpi_5
}
kind oob_interface_absent C19 - - "oob_tcp_if_include names an interface that one host has not"
in_mpi_5 oob_interface_absent "C19|Z14"
break_oob_interface_absent() {
  as_root "$h2" ip link set ib0 down
  as_root "$h2" ip link set ib0 name ib9
  undo interface_again "$h2" ib9
  broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca oob_tcp_if_include ib0 bin/worker
}
kind no_self "D5|X1" - - "the btl list lacks self"
break_no_self() { broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca btl tcp bin/worker; }
kind shm_full "D9|D10" "$h1" - "/dev/shm is full"
break_shm_full() {
  as_root "$h1" mount -o remount,size=64k /dev/shm
  undo as_root "$h1" mount -o remount,size=50% /dev/shm
  broken_until "not enough space" "${mpirun[@]}" -n 2 -H "$h1:2" --mca btl self,vader bin/worker
}
kind no_ucx A19 - - "--mca pml ucx where UCX has no device"
break_no_ucx() { broken "${mpirun[@]}" -n 2 -H "$h1:2" --mca pml ucx bin/worker; }
no_route() { # FROM TO: the second network does not lead there
  as_root "$1" ip route add unreachable "$2"
  undo as_root "$1" ip route del unreachable "$2"
}
kind no_route_between_ranks "D2|-" - - "no route to one host on the network that the ranks use" "Unable to connect to the peer"
in_mpi_5 no_route_between_ranks Z1
break_no_route_between_ranks() {
  no_route "$h1" "$i2"
  broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca btl_tcp_if_include ib0 bin/worker
}
kind no_way_back "C13|-" "$h2" - "orted has no route back to mpirun" "unable to complete a TCP connection"
in_mpi_5 no_way_back Z14 "$h2"
break_no_way_back() {
  no_route "$h2" "$i1"
  broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca oob_tcp_if_include ib0 bin/worker
}
kind same_private_address "D1|D2" - - "docker0 with one address on every host: accepted by the wrong host (D1) or refused (D2)"
break_same_private_address() {
  local host
  for host in "$h1" "$h2"; do
    as_root "$host" sh -c 'ip link add docker0 type bridge; ip addr add 172.17.0.1/16 dev docker0; ip link set docker0 up'
    undo as_root "$host" ip link del docker0
  done
  limit=5 broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" --mca btl_tcp_if_include docker0 bin/worker
}
