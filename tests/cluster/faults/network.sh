# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Faults between hosts that answer: MTU, filters, ports, interfaces.

drop() { # HOST RULE: packets coming in
  as_root "$1" nft -f - << RULES
table inet fault {
  chain input {
    type filter hook input priority 0; policy accept;
    $2
  }
}
RULES
}
pass_all() { as_root "$1" nft delete table inet fault; }
filters_work() { drop "$head" "tcp dport 1 drop" 2> /dev/null && pass_all "$head"; }

fault mtu NET-01 quick fail odd "eth0 has an MTU of 1400"
inject_mtu() { for host; do as_root "$host" ip link set eth0 mtu 1400; done; }
repair_mtu() { for host; do as_root "$host" ip link set eth0 mtu 1500; done; }
shows_mtu() { [ "$(reach "$1" cat /sys/class/net/eth0/mtu)" = 1400 ]; }

fault second_link MPI-04 quick fail named:node "the interface that was requested is down"
inject_second_link() { for host; do lab link "$host" ib0 down; done; }
repair_second_link() { for host; do lab link "$host" ib0 up; done; }
arguments_second_link() { printf '%s\n' --interface ib0; }
shows_second_link() { ! connects "$head" "ib$(number "$1")" 22 && connects "$head" "$1" 22; }

fault filtered NET-03 full fail each "the ports that MPI opens are dropped by a filter"
inject_filtered() { for host; do drop "$host" "iifname != lo tcp dport 1024-65535 tcp flags & (syn | ack) == syn drop"; done; }
arguments_filtered() { printf '%s\n' --skip MPI-06; } # mpirun would hang for its whole minute
repair_filtered() { each pass_all "$@"; }
shows_filtered() { # a closed port answers at once, a filtered one never
  connects "$head" "$1" 40001
  [ $? -eq 124 ]
}

# Large frames that the hosts allow and the switch swallows. The launching host's TCP sends small ones, and so it can
# still log in.
switch() { nsenter --target "$(living "$LAB_DIR/switch")" --net "$@"; }
set_mtu() { # HOST MTU MTU-AT-THE-SWITCH
  local port
  port=$(switch ip -o link show | sed -n "s/^[0-9]*: \(e$(number "$1")\.[0-9]*\)@.*/\1/p")
  switch ip link set "$port" mtu "$3"
  as_root "$1" ip link set eth0 mtu "$2"
}
fault jumbo NET-02 full fail each "hosts send jumbo frames, the switch's port for this host drops them"
inject_jumbo() {
  as_root "$head" nft -f - << RULES
table inet clamp {
  chain in { type filter hook input priority 0; tcp flags syn tcp option maxseg size set 1400; }
  chain out { type filter hook output priority 0; tcp flags syn tcp option maxseg size set 1400; }
}
RULES
  switch ip link set eth mtu 9000
  for host in "${hosts[@]}" "$head"; do set_mtu "$host" 9000 9000; done
  for host; do set_mtu "$host" 9000 1500; done
}
arguments_jumbo() { arguments_filtered; }
repair_jumbo() { for host; do set_mtu "$host" 9000 9000; done; }
undo_jumbo() {
  for host in "${hosts[@]}" "$head"; do set_mtu "$host" 1500 1500; done
  as_root "$head" nft delete table inet clamp
}
shows_jumbo() { # 4000 bytes that may not be cut do not arrive
  local from=node1
  [ "$1" != node1 ] || from=node2
  ! on "$from" python3 - "$1" 4000 < "$faults/probe_mtu.py" > /dev/null
}

fault port_in_use NET-04 quick fail first "somebody listens on the port that rank 0 will open"
inject_port_in_use() {
  # shellcheck disable=SC2016
  on_disk "$1" 'setsid python3 -c "
import socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((\"\", 29500)); s.listen(); time.sleep(3600)" < /dev/null > /dev/null 2>&1 & echo $! > /run/listener'
  wait_until 5 shows_port_in_use "$1"
}
repair_port_in_use() { on_disk "$1" 'kill $(cat /run/listener)'; wait_until 5 port_is_free "$1"; }
port_is_free() { ! shows_port_in_use "$1"; }
arguments_port_in_use() { printf '%s\n' --port 29500; }
shows_port_in_use() { connects "$head" "$1" 29500; }
