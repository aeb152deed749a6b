#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch --launcher ssh` over 4 hosts, with no mpirun in sight: what ranks see is the plan; a host that is lost,
# a daemon, a hand or a head that is killed is named, and nothing is left anywhere.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
lab_up 4
hosts=(node1 node2 node3 node4)
declare -A of_host
name_hosts() {
  of_host=()
  for host in "${hosts[@]}"; do of_host[$(stat -L -c %i "/proc/$(lab pid "$host")/ns/pid")]=$host; done
}
name_hosts
# "HOST PID NAME ARGUMENTS" of the user's processes in the hosts, as this machine numbers them.
everything() {
  local pid namespace user name arguments
  ps -eo pid=,pidns=,uid=,comm=,args= | while read -r pid namespace user name arguments; do
    [ "$user" != 2000 ] || [ -z "${of_host[$namespace]-}" ] || echo "${of_host[$namespace]} $pid $name $arguments"
  done
}
find_kind() { # KIND [HOST]
  everything | case $1 in
    head) awk '/ ssh-launch /' ;;
    hand) awk '/ddlrun ssh-daemon/ && $3 == "ddlrun"' ;;
    sshd) awk '$3 ~ /^sshd(-session)?$/ && /@notty/' ;; # OpenSSH 9.8 split it
    work) awk '$3 == "work"' ;;
  esac | awk -v host="${2-}" 'host == "" || $1 == host { print $2 }'
}
cat > "$lab_home/work" << 'PROGRAM'
#!/bin/bash
setsid sleep 86400 &
trap "" TERM
while :; do for ((i = 0; i < 2000; i++)); do :; done; sleep 0.2; done
PROGRAM
chmod 755 "$lab_home/work"
words=(--launcher ssh 2x4x1 'node[1-4]' --sockets 1 --cores 2)

# --- what the ranks see is what was planned
# shellcheck disable=SC2016
see='echo "$DDLRUN_RANK $(uname -n) $DDLRUN_LOCAL_RANK $(sed -n "s/Cpus_allowed_list:\t//p" /proc/self/status)"'
on node1 "$tool" launch "${words[@]}" --run-dir run --strict --verify -- sh -c "$see" > "$work/seen" 2> "$work/seen.err"
same "8 ranks: status" 0 $?
# "rank 3=node4 slot=0:0" of the rankfile, where hosts have one package of cores 0 and 1.
sed -n 's/^rank \([0-9]*\)=\([^ ]*\) *slot=0:\([0-9]*\).*/\1 \2 \3 \3/p' "$lab_home/run/rankfile" | sort > "$work/planned"
same "8 ranks: planned" 8 "$(wc -l < "$work/planned")"
same "8 ranks: as planned" "$(cat "$work/planned")" "$(sort "$work/seen")"
same "8 ranks: verified" 8 "$(grep -c '"verdict":"ok"' "$lab_home/run/run.json")"
same "after a good run nothing is left" "" "$(everything)"

# --- libddl connects over TCP, with a token that launch passes on
if [ -x "$DDLRUN_BUILD_DIR/tests/mpi/tcp_sums" ]; then
  install -m 755 "$DDLRUN_BUILD_DIR/tests/mpi/tcp_sums" "$lab_home/tcp_sums"
  (umask 077 && head -c 32 /dev/urandom | base64 > "$lab_home/token" && chown 2000 "$lab_home/token")
  on node1 "$tool" launch "${words[@]}" -x DDL_TOKEN_FILE=/home/ddl/token -- ./tcp_sums > "$work/sums" 2> "$work/sums.err"
  same "libddl by ssh: status" 0 $?
  same "libddl by ssh: ranks" 8 "$(grep -c '^rank [0-7] of 8 (2x4): all sums are right$' "$work/sums")"
fi

start() {
  (
    on node1 "$tool" launch "${words[@]}" -- ./work > "$work/job.out" 2> "$work/job.err" < /dev/null
    echo $? > "$work/job.status"
  ) 2> /dev/null &
  job=$!
  for _ in $(seq 1 200); do
    [ "$(find_kind work | wc -l)" -eq 8 ] && return
    sleep 0.05
  done
  fail "the job does not start: $(tail -3 "$work/job.err")"
}
gone() { # WHAT STATUS
  local begun=$SECONDS
  while kill -0 "$job" 2> /dev/null && [ $((SECONDS - begun)) -le 20 ]; do sleep 0.1; done
  wait "$job"
  [ -z "$2" ] || same "$1: status" "$2" "$(cat "$work/job.status")"
  for _ in $(seq 1 50); do [ -n "$(everything)" ] || break; sleep 0.1; done
  same "$1: nothing is left" "" "$(everything)"
}
for kind in sshd hand; do
  start
  mapfile -t victims < <(find_kind $kind node3)
  [ ${#victims[@]} -gt 0 ] || fail "no $kind on node3"
  kill -KILL "${victims[@]}"
  gone "$kind of node3 killed" 5
  grep -q "host node3 was lost" "$work/job.err" || fail "$kind killed: node3 is not named: $(tail -3 "$work/job.err")"
done
start
find_kind head | xargs kill -KILL
gone "the head killed" ""
start
lab stop node3
gone "node3 switched off" 5
grep -q "host node3 was lost" "$work/job.err" || fail "switched off: node3 is not named: $(tail -3 "$work/job.err")"

# --- a cut cable: both ends notice by themselves
lab start node3
name_hosts
start
lab link node3 eth0 down
lab link node3 ib0 down
begun=$SECONDS
wait "$job"
same "a cut cable: status" 5 "$(cat "$work/job.status")"
grep -q "host node3 was lost" "$work/job.err" || fail "a cut cable: node3 is not named: $(tail -3 "$work/job.err")"
# The session's sshd waits on for a quarter of an hour; it is not ours.
until ! everything | grep -Eqv ' sshd(-session)? ' || [ $((SECONDS - begun)) -gt 120 ]; do sleep 0.5; done
same "a cut cable: nothing is left behind it" "" "$(everything | grep -Ev ' sshd(-session)? ')"
echo "a cut cable: all ended after $((SECONDS - begun)) s"
lab link node3 eth0 up
lab link node3 ib0 up
lab stop node3

# --- a host that is down: reported before anything starts
on node1 "$tool" launch "${words[@]}" -- ./work > "$work/down.out" 2> "$work/down.err"
same "node3 is down: status" 5 $?
grep -q "node3 cannot be reached" "$work/down.err" || fail "node3 is down: $(tail -3 "$work/down.err")"
same "node3 is down: nothing is left" "" "$(everything)"
lab start node3
name_hosts
on node1 "$tool" launch "${words[@]}" -- true > /dev/null 2>&1
same "node3 is back: status" 0 $?
finish
