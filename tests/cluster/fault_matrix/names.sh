# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# The resolver never answers: node2 is the name server and drops each question. The hosts' names are in /etc/hosts, as on
# most clusters; a name that is not there takes 10 s.

command -v nft > /dev/null || { echo 'not tested: a silent resolver (apt-get install nftables)'; return; }
silent_resolver() { # COMMAND...
  as_root node2 nft 'add table ip mute; add chain ip mute in { type filter hook input priority 0; };
    add rule ip mute in udp dport 53 drop; add rule ip mute in tcp dport 53 drop'
  for host in "${hosts[@]}"; do as_root "$host" sh -c 'echo nameserver 10.1.1.2 > /etc/resolv.conf'; done
  "$@"
  for host in "${hosts[@]}"; do as_root "$host" sh -c ': > /etc/resolv.conf'; done
  as_root node2 nft delete table ip mute
}
launch_unknown() {
  status=0
  on node1 "$tool" launch 1x2x1 node1,nowhere --sockets 1 --cores 2 -- ./rank > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
}
row launch 'the resolver never answers' 'names in /etc/hosts' 0 - silent_resolver launch -- ./rank
[ -z "$full" ] || row 'launch, ssh' 'the resolver never answers' 'names in /etc/hosts' 0 - silent_resolver launch --launcher ssh -- ./rank
[ -z "$full" ] || row launch 'the resolver never answers' 'a name that is not there' '3|5|1|255' nowhere silent_resolver launch_unknown
[ -z "$full" ] || row doctor 'the resolver never answers' 'names in /etc/hosts' '0|1' '2 hosts' silent_resolver doctor
