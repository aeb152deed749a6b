#!/bin/bash
# SPDX-License-Identifier: MIT
# ddlrun lies below /tmp, and on another host the same path is another user's file: no command executes it. The user's own
# copy there is executed.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
lab_up 2
ddlrun=/tmp/me/ddlrun
on node1 install -D -m 755 "$tool" "$ddlrun"
cat > "$lab_home/foreign" << 'FOREIGN'
#!/bin/sh
echo "as $(id -un): $*" >> /home/ddl/executed
exit 0
FOREIGN
chmod 755 "$lab_home/foreign"
as_root node2 install -d -o 65534 /tmp/me
as_root node2 install -o 65534 -m 755 /home/ddl/foreign "$ddlrun"

commands=(
  "launch 1x2x1 node1,node2 -- hostname"
  "launch --verify 1x2x1 node1,node2 -- hostname"
  "launch --launcher ssh 1x2x1 node1,node2 --sockets 1 --cores 2 -- hostname"
  "doctor node1,node2 --only LIM-01"
  "gen-rankfile 1x2x1 node1,node2"
)
for command in "${commands[@]}"; do
  read -ra words <<< "$command"
  on node1 "$ddlrun" "${words[@]}" > "$work/out" 2> "$work/err" || true
  [ ! -e "$lab_home/executed" ] || fail "$command: node2's foreign file was executed: $(cat "$lab_home/executed")"
  rm -f "$lab_home/executed"
done
status=0
on node1 "$ddlrun" launch --verify 1x2x1 node1,node2 -- hostname > "$work/out" 2> "$work/err" || status=$?
[ "$status" -ne 0 ] || fail "a run whose ranks could not start on node2 ends with 0"
grep -q "$ddlrun on node2 is missing, or another user can replace it" "$work/out" "$work/err" ||
  fail "the output does not name the file of node2: $(cat "$work/out" "$work/err")"

as_root node2 rm -r /tmp/me
on node2 install -D -m 755 "$tool" "$ddlrun"
for command in "${commands[@]}"; do
  read -ra words <<< "$command"
  expect 0 "" on node1 "$ddlrun" "${words[@]}"
done
finish
