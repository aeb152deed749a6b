#!/bin/bash
# SPDX-License-Identifier: MIT
# A real OpenPBS on the hosts of a lab that is up: pbs_server, pbs_sched, pbs_comm and PostgreSQL on the first host, pbs_mom
# on each. ../peers/build_openpbs.sh builds it; here it is only looked for.
#   up [CPUS [GPUS]]   ncpus and ngpus per host as PBS shall believe (2 and 0); the queues normal (default) and debug
#   host NAME          start pbs_mom of a host that was off; with "server", pbs_server on the first host
#   down               end the daemons, forget all jobs
# LAB_DIR is the lab. DDLRUN_OPENPBS (/var/tmp/ddlrun-openpbs-UID) is the prefix of OpenPBS. LAB_PBS_MORE: lines for qmgr.
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/cluster/lib/settings.sh
. "$here/lib/settings.sh"
# shellcheck source=tests/cluster/lib/needs.sh
. "$here/lib/needs.sh"
# shellcheck source=tests/cluster/lib/each_host.sh
. "$here/lib/each_host.sh"
read_settings
prefix=${DDLRUN_OPENPBS:-/var/tmp/ddlrun-openpbs-$(id -u)}
[ ! -e "$prefix" ] || { [ ! -L "$prefix" ] && [ -O "$prefix" ]; } || die "$prefix belongs to another user, or is a link"

# PBS_HOME is /run/pbs, since PBS refuses one below a directory that others may write to, such as /var/tmp (it lies in
# LAB_DIR, and so outlives the host). PBS_TMPDIR is /tmp, which each host has of its own: the default, /var/tmp, holds the
# socket of qsub's background process, by which the hosts of another lab would submit to this server. The commands are in
# /usr/local/bin, where a login finds them before Slurm's wrappers; the machine's own /usr/local/bin lies below.
prepare() { # HOST
  local server=0
  [ "$1" != "$(host_name 1)" ] || server=1
  mkdir -p "$LAB_DIR/$1/pbs"
  # shellcheck disable=SC2016
  on "$1" bash -ec '
    printf "%s\n" "PBS_EXEC=$1" "PBS_HOME=/run/pbs" "PBS_SERVER=$3" PBS_CORE_LIMIT=unlimited \
      PBS_TMPDIR=/tmp PBS_SCP=/usr/bin/scp "PBS_START_SERVER=$4" "PBS_START_SCHED=$4" "PBS_START_COMM=$4" PBS_START_MOM=1 > /etc/pbs.conf
    mount -t overlay overlay -o "lowerdir=$1/bin:/usr/local/bin" /usr/local/bin || mount --bind "$1/bin" /usr/local/bin
    mkdir -p /run/pbs
    mount --bind "$2" /run/pbs
    [ "$4" -eq 0 ] || install -d -o postgres -g postgres -m 2775 /run/postgresql # where Debian has its socket
    [ ! -e /run/pbs/pbs_version ] || exit 0
    PATH=$1/sbin:$PATH "$1/libexec/pbs_habitat"
    printf "%s\n" "PATH=/usr/local/bin:/usr/bin:/bin" > /run/pbs/pbs_environment
    printf "%s\n" "\$clienthost $3" "\$usecp *:/home/ /home/" "\$enforce mem" "\$tmpdir /tmp" > /run/pbs/mom_priv/config
    [ "$4" -eq 0 ] || sed -i "/^resources:/s/\"$/, ngpus\"/" /run/pbs/sched_priv/sched_config
    ' bash "$prefix" "$LAB_DIR/$1/pbs" "$(host_name 1)" "$server" > "$LAB_DIR/$1/pbs.log" 2>&1
}
start_mom() { on "$1" "$prefix/sbin/pbs_mom" >> "$LAB_DIR/$1/pbs.log" 2>&1; }
start_server() { on "$(host_name 1)" "$prefix/sbin/pbs_server" >> "$LAB_DIR/$(host_name 1)/pbs.log" 2>&1; }

# scheduler_iteration: without it a job may wait 600 s for resources that were freed unnoticed.
write_settings_of_server() { # CPUS GPUS
  local index
  cat << QMGR
set server flatuid = True
set server job_history_enable = True
set server scheduler_iteration = 2
set server node_fail_requeue = 10
set server max_array_size = 1000
create resource ngpus type=long, flag=hn
create queue normal queue_type=e, enabled=t, started=t
set server default_queue = normal
create queue debug queue_type=e, enabled=t, started=t
set queue debug resources_max.walltime = 00:30:00
QMGR
  for ((index = 1; index <= count; index++)); do
    [ "$index" -eq 1 ] || echo "create node $(host_name "$index")"
    echo "set node $(host_name "$index") resources_available.ncpus = $1"
    [ "$2" -eq 0 ] || echo "set node $(host_name "$index") resources_available.ngpus = $2"
  done
  [ -z "${LAB_PBS_MORE-}" ] || echo "$LAB_PBS_MORE"
}
all_free() { [ "$(on "$(host_name 1)" pbsnodes -a | grep -c 'state = free$')" = "$count" ]; }

up() {
  local begun first
  [ -x "$prefix/sbin/pbs_server" ] || skip "no OpenPBS in $prefix (tests/peers/build_openpbs.sh)"
  begun=$(now_ms)
  first=$(host_name 1)
  each_host prepare || die "OpenPBS was not set up: $(tail -qn 2 "$LAB_DIR"/*/pbs.log)"
  on "$first" "$prefix/sbin/pbs_comm" || die "pbs_comm did not start"
  on "$first" "$prefix/sbin/pbs_sched" || die "pbs_sched did not start"
  start_server || die "pbs_server did not start: $(tail -n 3 "$LAB_DIR/$first/pbs.log")"
  each_host start_mom || die "pbs_mom did not start: $(tail -qn 1 "$LAB_DIR"/*/pbs.log)"
  write_settings_of_server "${1:-2}" "${2:-0}" | on "$first" qmgr > "$LAB_DIR/$first/qmgr.log" 2>&1 ||
    die "qmgr: $(cat "$LAB_DIR/$first/qmgr.log")"
  wait_until 120 all_free || die "not all nodes are free: $(on "$first" pbsnodes -aS)"
  echo "pbs up: $count nodes x ${1:-2} cpus x ${2:-0} gpus in $(($(now_ms) - begun)) ms"
}

host() { # NAME
  [ "$1" = server ] && { start_server; return; }
  prepare "$1" && start_mom "$1"
}

# pbs_server's end takes PostgreSQL with it.
stop_daemons() { # HOST
  # shellcheck disable=SC2016
  on "$1" bash -c '
    cd /run/pbs || exit 0
    for file in server_priv/server.lock sched_priv/sched.lock mom_priv/mom.lock server_priv/comm.lock; do
      read -r pid < "$file" && kill "$pid" && while kill -0 "$pid" && [ $((++polls)) -lt 3000 ]; do sleep 0.01; done
    done 2> /dev/null
    [ ! -e datastore/postmaster.pid ] || "$1/sbin/pbs_dataservice" stop
    cd /
    umount /run/pbs /usr/local/bin' bash "$prefix"
  rm -rf "$LAB_DIR/$1/pbs"
}
down() {
  each_host stop_daemons || die "a host did not answer"
  echo "pbs down"
}

case ${1-} in
  up | down | host) count=$(host_count) || exit 1; "$@" ;;
  *) sed -n '3,/^set -u/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
