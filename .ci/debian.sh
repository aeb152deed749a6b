#!/bin/bash
# SPDX-License-Identifier: MIT
# .ci/debian.sh RELEASE [CTEST-OPTION...]: builds this tree in a chroot of another Debian release (trixie, forky) and
# runs its tests there, for example `sudo .ci/debian.sh trixie -R 'unit|cluster_launchers|cluster_submit'`. Needs root
# and debootstrap. The chroot is kept in $DDLRUN_CHROOTS/RELEASE (/var/tmp/ddlrun-chroots) and used again. It has its
# own /dev, mounts, processes and host name; the network is that of this host.
set -eu
release=${1:?usage: .ci/debian.sh RELEASE [CTEST-OPTION...]}
shift
tree=$(readlink -f "$(dirname "$0")/..")
root=${DDLRUN_CHROOTS:-/var/tmp/ddlrun-chroots}/$release
[ "$(id -u)" -eq 0 ] || { echo "debian.sh needs root, for debootstrap and mounts" >&2; exit 3; }
if [ ! -x "$root/usr/bin/env" ]; then
  command -v debootstrap > /dev/null || { echo "no debootstrap here: apt-get install debootstrap" >&2; exit 3; }
  mkdir -p "$root"
  mirror=$(sed -nE 's/^(deb|URIs:) *(\[[^]]*\] *)?(https?:[^ ]*).*/\3/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null | head -n 1)
  debootstrap --variant=minbase "$release" "$root" "${mirror:-http://deb.debian.org/debian}"
fi
mkdir -p "$root/root/ddlrun"
(cd "$tree" && git ls-files -co --exclude-standard -z | tar -c --null -T -) | tar -x -C "$root/root/ddlrun"
cp /etc/resolv.conf "$root/etc/resolv.conf"
grep -q localhost "$root/etc/hosts" 2> /dev/null || printf '127.0.0.1 localhost\n' > "$root/etc/hosts"

# Inside new namespaces: mounts that end with them.
# shellcheck disable=SC2016
inside='
  root=$1 && shift
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sys "$root/sys" 2> /dev/null || mount --rbind /sys "$root/sys"
  mount -t tmpfs dev "$root/dev"
  for device in null zero full random urandom tty; do
    touch "$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  for stream in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${stream%:*}" "$root/dev/${stream#*:}"; done
  mkdir "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs shm "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 pts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  hostname chroot
  exec chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    TERM=dumb LANG=C.UTF-8 CI=true bash /root/ddlrun/.ci/build_and_test.sh "$@"'
exec unshare --mount --pid --fork --uts bash -c "$inside" inside "$root" "$@"
