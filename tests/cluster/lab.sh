#!/bin/bash
# SPDX-License-Identifier: MIT
# N virtual hosts on one Linux machine, each with its own name, two interfaces, sshd, /etc, /tmp, /run, /dev/shm and
# processes; /home is shared. The machine's own network gets no address and no route. Needs root.
#   up N                        start node1 ... nodeN (1 to 250) with user ddl, keys and known_hosts in place
#   down                        end them all and remove LAB_DIR
#   exec HOST [-u USER] CMD...  run CMD in HOST as root or USER, with a login's environment, in the home
#   pid HOST                    its first process, as this machine numbers it
#   link HOST IF up|down        raise or cut an interface
#   rate HOST IF RATE|off       limit one, as in "rate node2 eth0 100mbit"
#   stop HOST, start HOST       switch a host off and on
#   sshd HOST [PRLIMIT...]      restart its sshd, under limits such as --memlock=65536
#   status                      a line for each host
# LAB_DIR (/var/tmp/ddlrun-hosts) is the lab: others stand side by side. For "up": LAB_PREFIX (node), LAB_IB_PREFIX
# (ib), LAB_USER (ddl), LAB_UID (2000), LAB_ETH_NET (10.1.1), LAB_IB_NET (10.9.1), LAB_MAXSTARTUPS (100),
# LAB_MEMLOCK=KiB for every sshd, LAB_MEMLOCK_2=64 for host 2, LAB_HOOK=FILE sourced while a host starts (index, name).
set -u
lib=$(dirname "$(readlink -f "$0")")/lib
# shellcheck source=tests/cluster/lib/settings.sh
. "$lib/settings.sh"
# shellcheck source=tests/cluster/lib/processes.sh
. "$lib/processes.sh"
# shellcheck source=tests/cluster/lib/needs.sh
. "$lib/needs.sh"
# shellcheck source=tests/cluster/lib/hosts.sh
. "$lib/hosts.sh"

usage() { sed -n '3,/^set -u/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }

up() {
  local count=$1 index begun
  if [[ ! $count =~ ^[0-9]{1,3}$ ]] || [ "$count" -lt 1 ] || [ "$count" -gt 250 ]; then
    die "up: 1 to 250 hosts, not '$count'"
  fi
  [[ $LAB_DIR == /* && $LAB_DIR != /tmp/* && $LAB_DIR != /home/* && $LAB_DIR != /run/* && $LAB_DIR != /root/* ]] ||
    die "LAB_DIR=$LAB_DIR: hosts see another /tmp, /home, /run and /root: take a directory under /var/tmp"
  check_needs
  begun=$(now_ms)
  mkdir -p "$LAB_DIR"
  [ -z "$(ls -A "$LAB_DIR")" ] || die "$LAB_DIR is not empty: lab.sh down first"
  write_settings
  trap undo_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  write_etc "$count"
  for ((index = 1; index <= count; index++)); do write_host "$index" & done
  wait
  write_home "$count"
  echo "$count" > "$LAB_DIR/count"
  start_switch
  export LAB_DIR "${lab_settings[@]}"
  for ((index = 1; index <= count; index++)); do start_host "$index"; done
  for ((index = 1; index <= count; index++)); do wait_host "$index" || exit 1; done
  trap - EXIT INT TERM HUP
  echo "up: $count hosts in $(($(now_ms) - begun)) ms"
}

undo_up() { # what a failed or interrupted "up" has started
  local status=$?
  trap "" INT TERM HUP
  down_all
  exit "$status"
}
down_all() {
  local directory
  for directory in "$LAB_DIR"/*/; do kill_host "${directory%/}"; done
  for directory in "$LAB_DIR"/*/; do wait_dead "${directory%/}"; done
  signal_process KILL "$LAB_DIR/switch"
  wait_until 10 gone "$LAB_DIR/switch" || die "the switch does not end"
  rm -rf --one-file-system "$LAB_DIR"
}
down() {
  local begun
  begun=$(now_ms)
  [ -e "$LAB_DIR" ] || { echo "down: there is no lab in $LAB_DIR"; return 0; }
  [ -e "$LAB_DIR/settings" ] || die "$LAB_DIR is no lab's directory"
  down_all
  echo "down in $(($(now_ms) - begun)) ms"
}

pid_of() {
  host_index "$1" > /dev/null || exit 1 # a message was given
  living "$LAB_DIR/$1/init" || die "$1 is not running"
}

# The command dies with us: PDEATHSIG reaches it although it is in another process namespace.
# A clean environment, as a login gives: nothing of the caller's leaks in.
exec_in() {
  local host=$1 user=root home=/root pid identity=()
  shift
  if [ "${1-}" = -u ]; then user=$2; shift 2; fi
  [ "${1-}" != -- ] || shift
  [ $# -gt 0 ] || usage
  pid=$(pid_of "$host") || exit 1
  if [ "$user" != root ]; then
    home=/home/$user
    identity=(--reuid "$user" --regid "$user" --init-groups)
  fi
  # shellcheck disable=SC2016
  exec nsenter --target "$pid" --net --uts --mount --ipc --pid --root --wd=/ -- \
    setpriv "${identity[@]}" --pdeathsig TERM env -i HOME="$home" USER="$user" LOGNAME="$user" SHELL=/bin/bash \
    TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin \
    bash -c 'cd "$HOME" && exec "$@"' bash "$@"
}

restart_sshd() {
  local host=$1
  shift
  # shellcheck disable=SC2016
  exec_in "$host" bash -c '
    directory=$1; shift
    if read -r pid < /run/sshd.pid && [ "$(cat "/proc/$pid/comm")" = sshd ]; then
      kill -KILL "$pid"
      while [ -e "/proc/$pid/fd" ] && ! grep -q "^State:.*Z" "/proc/$pid/status"; do sleep 0.01; done
    fi 2> /dev/null
    [ "${1-}" != off ] || exit 0
    rm -f /run/sshd.pid
    prlimit "$@" "$(command -v sshd)" -f "$directory/sshd_config" -E "$directory/sshd.log" || exit 1
    until [ -s /run/sshd.pid ] || [ $((++polls)) -gt 500 ]; do sleep 0.01; done # written once it listens
    [ -s /run/sshd.pid ]' bash "$LAB_DIR/$host" "$@"
}

start_one() {
  local index
  index=$(host_index "$1") || exit 1
  gone "$LAB_DIR/$1/process" || die "$1 is running"
  check_needs
  export LAB_DIR "${lab_settings[@]}"
  start_host "$index"
  wait_host "$index"
}

# The bucket holds 1 ms: more would carry for nothing what is sent after a pause; at 1gbit, less than two of the
# kernel's 64 kB packets would lose what the wire carries whenever a timer is late.
limit_rate() {
  local pid burst=64kb
  pid=$(pid_of "$1") || exit 1
  [[ $3 =~ ^([0-9]+)mbit$ ]] && burst=$((BASH_REMATCH[1] * 125))
  [[ $3 =~ ^([0-9]+)gbit$ ]] && burst=$((BASH_REMATCH[1] * 125000))
  nsenter --target "$pid" --net tc qdisc del dev "$2" root 2> /dev/null
  [ "$3" = off ] || nsenter --target "$pid" --net tc qdisc add dev "$2" root tbf rate "$3" burst "$burst" latency 50ms
}

status_of_all() {
  local index name pid
  for ((index = 1; index <= $(host_count); index++)); do
    name=$(host_name "$index")
    pid=$(living "$LAB_DIR/$name/init") || { echo "$name off"; continue; }
    nsenter --target "$pid" --net ip -br -4 addr |
      awk -v line="$name pid=$pid" '$1 != "lo" { sub(/@.*/, "", $1); line = line " " $1 "=" $3 "," $2 } END { print line }'
  done
}

[ $# -ge 1 ] || usage
read_settings
case $1 in
  up) [ $# -eq 2 ] || usage; up "$2" ;;
  down) down ;;
  exec) [ $# -ge 3 ] || usage; exec_in "${@:2}" ;;
  pid) [ $# -eq 2 ] || usage; pid_of "$2" ;;
  link) [ $# -eq 4 ] || usage; pid=$(pid_of "$2") || exit 1; nsenter --target "$pid" --net ip link set "$3" "$4" ;;
  rate) [ $# -eq 4 ] || usage; limit_rate "${@:2}" ;;
  stop) [ $# -eq 2 ] || usage; host_index "$2" > /dev/null || exit 1; kill_host "$LAB_DIR/$2"; wait_dead "$LAB_DIR/$2" ;;
  start) [ $# -eq 2 ] || usage; start_one "$2" ;;
  sshd) [ $# -ge 2 ] || usage; restart_sshd "${@:2}" ;;
  status) status_of_all ;;
  *) usage ;;
esac
