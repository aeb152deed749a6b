#!/bin/bash
# SPDX-License-Identifier: MIT
# A real Slurm on the hosts of a lab that is up: slurmctld on the first host, slurmd and munged on each.
#   up [CPUS [GPUS]]   CPUs and GPUs per host as Slurm shall believe (2 and 0)
#   down               end the daemons, forget the controller's state
# LAB_DIR is the lab. LAB_SLURM_MEMORY (MB, 20000), LAB_SLURM_PROPAGATE (ALL), LAB_SLURM_MINJOBAGE (300 s),
# LAB_SLURM_KILLWAIT (5 s), LAB_SLURM_REQUEUE_AFTER (120 s), LAB_SLURM_MORE (lines for slurm.conf).
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/cluster/lib/settings.sh
. "$here/lib/settings.sh"
# shellcheck source=tests/cluster/lib/needs.sh
. "$here/lib/needs.sh"
# shellcheck source=tests/cluster/lib/each_host.sh
. "$here/lib/each_host.sh"
# shellcheck source=tests/cluster/lib/slurm_conf.sh
. "$here/lib/slurm_conf.sh"
read_settings
slurm=$LAB_DIR/slurm

# slurmd requests control groups even where it uses none: an empty directory of version 1 satisfies it anywhere.
start_munge() { # HOST
  # shellcheck disable=SC2016
  on "$1" bash -ec '
    mkdir -p /etc/slurm
    mkdir -p -m 755 /run/munge
    cp "$1"/slurm.conf "$1"/gres.conf /etc/slurm/
    echo CgroupPlugin=cgroup/v1 > /etc/slurm/cgroup.conf
    [ "$(stat -f -c %T /sys/fs/cgroup)" = tmpfs ] || mount -t tmpfs tmpfs /sys/fs/cgroup
    munged --force --key-file="$1/munge.key" --socket=/run/munge/munge.socket.2 --pid-file=/run/munge/munged.pid \
      --log-file="$2/munged.log" --seed-file="$2/munged.seed"' bash "$slurm" "$LAB_DIR/$1"
  wait_until 10 on "$1" munge -n
}
start_slurmd() { on "$1" slurmd; }
all_idle() { [ "$(on "$(host_name 1)" sinfo -h -t idle -o %D -p normal)" = "$count" ]; }

up() {
  local cpus=${1:-2} gpus=${2:-0} begun
  need_tools "slurmctld slurmd slurm-client munge" slurmctld slurmd sinfo munged munge
  begun=$(now_ms)
  mkdir -p "$slurm/state"
  (umask 077 && head -c 1024 /dev/urandom > "$slurm/munge.key")
  write_slurm_conf "$count" "$cpus" "$gpus" > "$slurm/slurm.conf"
  write_gres_conf "$count" "$gpus" > "$slurm/gres.conf"
  each_host start_munge || die "munged does not answer: $(tail -qn 1 "$LAB_DIR"/*/munged.log)"
  on "$(host_name 1)" slurmctld -i || die "slurmctld did not start: $(tail -n 3 "$slurm/slurmctld.log")"
  each_host start_slurmd || die "slurmd did not start: $(tail -qn 1 "$LAB_DIR"/*/slurmd.log)"
  wait_until 60 all_idle || die "not all nodes are idle: $(on "$(host_name 1)" sinfo; tail -n 3 "$slurm/slurmctld.log")"
  echo "slurm up: $count nodes x $cpus cpus x $gpus gpus in $(($(now_ms) - begun)) ms"
}

stop_daemons() { # HOST
  # shellcheck disable=SC2016
  on "$1" bash -c '
    for file in /run/slurmctld.pid /run/slurmd.pid /run/munge/munged.pid; do
      read -r pid < "$file" && kill "$pid" && while kill -0 "$pid" && [ $((++polls)) -lt 1000 ]; do sleep 0.01; done
    done 2> /dev/null
    true'
}
down() {
  each_host stop_daemons || die "a host did not answer"
  rm -rf "$slurm/state"
  echo "slurm down"
}

case ${1-} in
  up | down) count=$(host_count) || exit 1; "$@" ;;
  *) sed -n '3,/^set -u/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
