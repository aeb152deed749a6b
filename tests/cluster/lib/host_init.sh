#!/bin/bash
# SPDX-License-Identifier: MIT
# Process 1 of a virtual host: host_init.sh INDEX, in fresh namespaces, with the switch's network as descriptor 9.
# Makes /etc, /run, /tmp, /root, /dev/shm and the machine's identity its own, brings up eth0, ib0 and sshd, then reaps.
set -eu
# shellcheck source=tests/cluster/lib/settings.sh
. "$(dirname "$(readlink -f "$0")")/settings.sh"
# shellcheck source=tests/cluster/lib/processes.sh
. "$(dirname "$(readlink -f "$0")")/processes.sh"
read_settings
index=$1
name=$(host_name "$index")
directory=$LAB_DIR/$name

if [ "${2-}" != inside ]; then
  read -r own _ < /proc/self/stat # /proc is still the machine's: our number as it sees us
  record_process "$directory/init" "$own"
  if [ "$LAB_PROPAGATION" = unchanged ]; then # in a chroot: make its directory a root that is our own mount
    mkdir -p "$directory/root"
    mount --rbind / "$directory/root"
    mount --make-rprivate "$directory/root"
    exec chroot "$directory/root" /bin/bash "$(readlink -f "$0")" "$index" inside
  fi
fi

# A private copy of /etc. Not bind mounts of single files: useradd or apt on the machine rename new files into place,
# and such a mount silently vanishes. Where an overlay cannot lie on this file system, a plain copy.
private_etc() {
  mkdir -p "$directory/etc"
  mount -t tmpfs -o mode=755 tmpfs "$directory/etc"
  mkdir "$directory/etc/upper" "$directory/etc/work"
  if ! mount -t overlay overlay -o "lowerdir=/etc,upperdir=$directory/etc/upper,workdir=$directory/etc/work" /etc; then
    cp -a /etc "$directory/etc/copy"
    mount --bind "$directory/etc/copy" /etc
  fi
  cp -f --remove-destination "$LAB_DIR"/etc/* /etc/
  echo "$name" > /etc/hostname
  rm -f /etc/resolv.conf /etc/machine-id
  : > /etc/resolv.conf
  tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id
}

# Each host says that it booted on its own: all of them share one kernel.
private_boot_id() {
  cat /proc/sys/kernel/random/uuid > "$directory/boot_id"
  mount --bind "$directory/boot_id" /proc/sys/kernel/random/boot_id
}

# /sys/class/net shows the network of the process that mounted sysfs; the control groups below it are kept.
private_sys() {
  mkdir -p "$directory/cgroup"
  [ ! -d /sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup "$directory/cgroup"
  mount -t sysfs sysfs /sys
  [ ! -d /sys/fs/cgroup ] || mount --rbind "$directory/cgroup" /sys/fs/cgroup
}

private_directories() {
  mkdir -p /dev/shm
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  mount -t tmpfs -o mode=700 tmpfs /root
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir -m 755 /run/sshd
  mkdir -m 1777 /run/lock
  mkdir -p /home
  mount --bind "$LAB_DIR/home" /home # shared, as NFS would be
}

# One pair of ports for each interface, the other ends in the switch. "ip netns" would not find the switch from here.
network() {
  local hex suffix
  hex=$(printf %02x "$index")
  suffix=$index.$RANDOM # the ports of a host that has just died may still be there
  ip -batch - << LINKS
link set lo up
link add eth0 address 02:e0:00:00:00:$hex type veth peer name e$suffix netns /proc/self/fd/9
link add ib0 address 02:1b:00:00:00:$hex type veth peer name b$suffix netns /proc/self/fd/9
addr add $LAB_ETH_NET.$index/24 brd + dev eth0
addr add $LAB_IB_NET.$index/24 brd + dev ib0
link set eth0 up
link set ib0 up
LINKS
  nsenter --net=/proc/self/fd/9 ip -batch - << PORTS
link set e$suffix master eth up
link set b$suffix master ib up
PORTS
  exec 9<&-
}

hostname "$name"
mount -t proc proc /proc
private_etc
private_boot_id
private_sys
private_directories
network
# shellcheck source=/dev/null
[ -z "${LAB_HOOK-}" ] || . "$LAB_HOOK" # has the variables index, name, directory
memlock=LAB_MEMLOCK_$index
memlock=${!memlock:-${LAB_MEMLOCK-}}
[ -z "$memlock" ] || prlimit --memlock=$((memlock * 1024)):$((memlock * 1024)) --pid $$
"$(command -v sshd)" -f "$directory/sshd_config" -E "$directory/sshd.log" # it starts itself again: a full path
wait_until 10 test -s /run/sshd.pid # written once it listens
mount -t tmpfs -o mode=1777 tmpfs /tmp                              # last: these files may lie in the old one
cd /
: > "$directory/ready"

trap 'exit 0' TERM
set +e
while :; do # bash reaps what is orphaned here
  sleep 3600 &
  wait $!
done
