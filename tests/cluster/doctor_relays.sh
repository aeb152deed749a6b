#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor through relays with real sshd: clocks and facts come through, a relay hands on a binary that was sent to it,
# and one without known hosts accepts no key.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
lab_up 6

# doctor TOOL WORDS...: from node1 over all; node2 and node5 are relays, of node3, node4 and of node6.
doctor() {
  status=0
  on node1 "$1" doctor 'node[1-6]' --fanout 2 --relays always "${@:2}" > "$work/out" 2> "$work/err" || status=$?
}
doctor "$tool" --only SSH,TIME-01,LIM-03 --all
[ "$status" -eq 0 ] || fail "status $status: $(cat "$work/out" "$work/err")"
grep -q '^6 hosts by ssh, 3 through others' "$work/out" || fail "the tree is not used: $(tail -1 "$work/out")"
grep -A1 'TIME-01' "$work/out" | grep -qF 'node[2-6] (5 of 6)' || fail "no clocks: $(cat "$work/out")"
[ ! -s "$work/err" ] || fail "stderr: $(cat "$work/err")"

# node1 alone has the binary: its copy of node2 is sent on to node3 and node4.
on node1 cp "$tool" /tmp/ddlrun
mv "$lab_home/bin/ddlrun" "$lab_home/bin/elsewhere"
doctor /tmp/ddlrun --only SSH-01
[ "$status" -eq 0 ] || fail "sent binary: status $status: $(cat "$work/out" "$work/err")"
grep -q '^6 hosts by ssh, 3 through others' "$work/out" || fail "a sent binary is no relay: $(cat "$work/out" "$work/err")"
for host in node2 node3 node4 node5 node6; do
  on "$host" sh -c 'ls -d /tmp/ddlrun-agent.* 2> /dev/null' && fail "$host keeps a copy"
done
mv "$lab_home/bin/elsewhere" "$lab_home/bin/ddlrun"

# node2 knows no keys: its hosts are asked directly, and no key is added.
as_root node2 sh -c 'echo "UserKnownHostsFile /tmp/none" > /tmp/config && cat /etc/ssh/ssh_config >> /tmp/config && cat /tmp/config > /etc/ssh/ssh_config'
doctor "$tool" --only SSH-01
[ "$status" -eq 0 ] || fail "unknown keys: status $status: $(cat "$work/out" "$work/err")"
grep -q '^6 hosts by ssh, 1 through others' "$work/out" || fail "unknown keys: $(tail -1 "$work/out")"
grep -q '^ddlrun: 2 of 3 hosts did not answer through another host and were asked directly (node2: node[34]: ' "$work/err" || fail "unknown keys: $(cat "$work/err")"
as_root node2 test ! -e /tmp/none || fail "a key was added"
finish
