#!/bin/bash
# SPDX-License-Identifier: MIT
# test_packages.sh [RELEASE]: makes the Debian packages of build/run, which was built on that release of Debian (bookworm), and
# in a clean chroot of it installs them, uses them as an ordinary user, upgrades and purges them, and compares the files of
# the chroot with those before. Needs root, debootstrap, dpkg-dev and the release's mirror. BUILD: another build tree. The
# chroot is kept in $DDLRUN_CHROOTS.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
[ "$(id -u)" -eq 0 ] || { echo "test_packages.sh needs root, for a chroot" >&2; exit 3; }
release=${1:-bookworm}
chroots=${DDLRUN_CHROOTS:-/var/tmp/ddlrun-chroots}
mkdir -p "$chroots"
if [ -L "$chroots" ] || [ ! -O "$chroots" ]; then echo "$chroots belongs to another user, or is a link" >&2; exit 3; fi
export DDLRUN_CHROOTS=$chroots/packages
chroot() { "$here/../.ci/chroot.sh" "$release" "$@"; }
chroot true > /dev/null
root=$DDLRUN_CHROOTS/$release/root
rm -rf "$root/packages"
for number in 1 2; do
  RELEASE=$number "$here/packages.sh" DEB "$root/packages/$number" "${BUILD:-$here/../build/run}" > /dev/null
done
chroot packaging/package_checks.sh /root/packages
