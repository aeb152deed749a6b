#!/bin/bash
# SPDX-License-Identifier: MIT
# `doctor --via pbsdsh` on two hosts that PBS gave two ranks each. The stand-in behaves as OpenPBS 23.06: a process for
# each line of the node file, or for line INDEX with -n; in $HOME; output not labelled; no stdin.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
lab_up 2
cat > "$lab_home/bin/pbsdsh" << 'STAND_IN'
#!/bin/bash
mapfile -t lines < "$PBS_NODEFILE"
chosen=("${!lines[@]}")
while [[ ${1-} == -* ]]; do
  case $1 in
    -n) chosen=("$2"); shift ;;
    --) shift; break ;;
  esac
  shift
done
for index in "${chosen[@]}"; do
  [ -n "${lines[index]-}" ] || { echo "pbsdsh: only ${#lines[@]} nodes available" >&2; exit 1; }
  [ ! -e "/home/ddl/down.${lines[index]}" ] || { echo "pbsdsh: error 17000 from tm_spawn on ${lines[index]}" >&2; exit 1; }
  ssh -n -o BatchMode=yes "${lines[index]}" "cd; exec $(printf '%q ' "$@")"
done
STAND_IN
chmod 755 "$lab_home/bin/pbsdsh"
printf '%s\n' node1 node1 node2 node2 > "$lab_home/nodes"
chown -R 2000:2000 "$lab_home"
in_job() {
  on node1 env PATH=/home/ddl/bin:/usr/local/bin:/usr/bin:/bin PBS_JOBID=1.server PBS_NODEFILE=/home/ddl/nodes \
    sh -c 'cd /home/ddl && exec "$@"' sh "$@"
}
has() { grep -qF -- "$1" "$work/out" || fail "no '$1' in: $(cat "$work/out")"; }

same "the stand-in itself: line 2" node2 "$(in_job pbsdsh -n 2 -- hostname 2> /dev/null)"
expect 0 "" in_job "$tool" doctor --via pbsdsh node1,node2 --only NAME-07,LIM-01 --all
has "2 hosts by pbsdsh"
grep -q "pass .*NAME-07" "$work/out" || fail "two hosts are taken for one machine: $(cat "$work/out")"
! grep -q ddlrun-agent "$work/out" "$work/err" || fail "the agent's words are on the screen: $(cat "$work/out" "$work/err")"
same "nothing is left" "" "$(find "$lab_home" -name '.ddlrun-doctor-*')"

expect 0 "" in_job "$tool" doctor --via ssh,pbsdsh node1,node2 --only PATH-01 --all
has "2 hosts by ssh and pbsdsh"
touch "$lab_home/down.node2"
status=0
in_job "$tool" doctor --via ssh,pbsdsh node1,node2 --only PATH-01 > "$work/out" 2> "$work/err" || status=$?
has "by pbsdsh: pbsdsh: error 17000 from tm_spawn on node2"
has "ddlrun doctor node2 --via pbsdsh"
finish
