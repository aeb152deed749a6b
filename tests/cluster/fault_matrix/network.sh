# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# The network between two hosts loses one direction: a host drops without a word what the other one sends.

command -v nft > /dev/null || { echo 'not tested: loss of one direction (apt-get install nftables)'; return; }
declare -A addresses=([node1]='10.1.1.1, 10.9.1.1' [node2]='10.1.1.2, 10.9.1.2')
deafen() { # HOST TO
  as_root "$1" nft "add table ip deaf; add chain ip deaf in { type filter hook input priority 0; };
    add rule ip deaf in ip saddr { ${addresses[$2]} } drop"
}
hear() { as_root "$1" nft delete table ip deaf; }
# The ranks work 3 s longer than that.
launch_deaf() { # HOST TO SECONDS LAUNCH OPTIONS...
  (sleep 2; deafen "$1" "$2"; sleep "$3"; hear "$1") &
  local deaf=$!
  launch "${@:4}" -- ./rank $((($3 + 3) * 10))
  wait "$deaf"
}
row launch 'nothing arrives from node2' 'for 6 s' 0 - launch_deaf node1 node2 6
if [ -n "$full" ]; then
  row launch 'nothing arrives at node2' 'for 10 s' 0 - launch_deaf node2 node1 10
  patience=120 within=60
  for launcher in openmpi ssh; do
    label=launch
    [ "$launcher" != ssh ] || label="launch, ssh"
    row "$label" 'nothing arrives from node2' 'for 60 s' 5 'host node2 was lost' launch_deaf node1 node2 60 --launcher "$launcher"
    row "$label" 'nothing arrives at node2' 'for 60 s' 5 'host node2 was lost' launch_deaf node2 node1 60 --launcher "$launcher"
  done
  patience='' within=''
fi
doctor_deaf() {
  deafen "$1" "$2"
  doctor
  hear "$1"
}
[ -z "$full" ] || row doctor 'nothing arrives from node2' 'from the start' 5 node2 doctor_deaf node1 node2
[ -z "$full" ] || row doctor 'nothing arrives at node2' 'from the start' 5 node2 doctor_deaf node2 node1
