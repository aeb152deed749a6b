#!/bin/bash
# SPDX-License-Identifier: MIT
# .ci/chroot.sh [--fresh] RELEASE COMMAND...: runs COMMAND in a copy of this tree, in a chroot of a Debian release
# (bookworm, trixie, forky), for example `sudo .ci/chroot.sh trixie ./test.sh`. Needs root and debootstrap. The chroot is
# kept in $DDLRUN_CHROOTS/RELEASE (/var/tmp/ddlrun-chroots) and used again, with its build trees; --fresh makes a new one.
# It has its own /dev, mounts, processes and host name; the network is that of this host. Files and directories that the
# tree no longer has are removed from the copy.
set -eu
fresh=''
[ "${1:-}" != --fresh ] || { fresh=yes; shift; }
[ $# -ge 2 ] || { echo "usage: .ci/chroot.sh [--fresh] RELEASE COMMAND..." >&2; exit 2; }
release=$1
shift
[[ $release =~ ^[a-z]+$ ]] || { echo "'$release' is not the name of a Debian release, such as trixie" >&2; exit 2; }
tree=$(readlink -f "$(dirname "$0")/..")
[ "$(id -u)" -eq 0 ] || { echo "chroot.sh needs root, for debootstrap and mounts" >&2; exit 3; }
# shellcheck source=.ci/own_places.sh
. "$tree/.ci/own_places.sh"
require_own "$release/root/ddlrun"
root=$chroots/$release
copy=$root/root/ddlrun
[ -z "$fresh" ] || rm -rf --one-file-system "$root"
if [ ! -e "$root/var/lib/ddlrun-complete" ]; then
  command -v debootstrap > /dev/null || { echo "no debootstrap here: apt-get install debootstrap" >&2; exit 3; }
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  mirror=$(sed -nE 's/^(deb|URIs:) *(\[[^]]*\] *)?(https?:[^ ]*).*/\3/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null | head -n 1)
  # An older debootstrap has no script for a newer release; all of them are links to the one of sid.
  script=/usr/share/debootstrap/scripts/$release
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  debootstrap --variant=minbase "$release" "$root" "${mirror:-http://deb.debian.org/debian}" "$script"
  # A mirror's copy of a release in progress can be older than apt accepts.
  printf 'Acquire::Check-Valid-Until "false";\n' > "$root/etc/apt/apt.conf.d/50valid-until"
  # A chroot that a crash damages is made again: dpkg need not wait for the disk, and does not delay tests that do.
  printf 'force-unsafe-io\n' > "$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  : > "$root/var/lib/ddlrun-complete"
fi
mkdir -p "$copy"
files() { (cd "$tree" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done); }
(cd "$copy" && find . -path ./build -prune -o -type f -print | sed 's|^\./||' | LC_ALL=C sort) > "$root/var/tmp/copied"
files | tr '\0' '\n' | LC_ALL=C sort | LC_ALL=C comm -23 "$root/var/tmp/copied" - | (cd "$copy" && xargs -r -d '\n' rm -f --)
(cd "$copy" && find . -mindepth 1 -path ./build -prune -o -type d -empty -printf '%P\0' | xargs -0 -r rmdir -p --ignore-fail-on-non-empty --)
files | tar -c -C "$tree" --null -T - | tar -x -C "$copy"
# PIDs begin again in each chroot: a directory of mpirun 5 that a killed run left would be in the way.
find "$root/tmp" -mindepth 1 -xdev -delete
cp /etc/resolv.conf "$root/etc/resolv.conf"
grep -q chroot "$root/etc/hosts" 2> /dev/null || printf '127.0.0.1 localhost chroot\n' > "$root/etc/hosts"

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
  # Not by exec: process 1 must reap what is orphaned, which bash does; a zombie would keep a virtual host alive.
  chroot "$root" /usr/bin/env -i -C /root/ddlrun PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/root TERM=dumb LANG=C.UTF-8 CI=true "$@"
  exit'
exec unshare --mount --pid --fork --uts bash -c "$inside" inside "$root" "$@"
