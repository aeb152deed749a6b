#!/bin/bash
# SPDX-License-Identifier: MIT
# test_packages.sh [RELEASE]: makes the Debian packages of build/run, which was built on that release of Debian (bookworm), and
# in a clean chroot of it installs them, uses them as an ordinary user, upgrades and purges them, and compares the files of
# the chroot with those before; /etc/ddlrun must survive. lintian, where it is installed, must report nothing.
# Needs root, debootstrap, dpkg-dev and the release's mirror. BUILD: another build tree. The chroot is kept in
# $DDLRUN_CHROOTS.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
[ "$(id -u)" -eq 0 ] || { echo "test_packages.sh needs root, for a chroot" >&2; exit 3; }
release=${1:-bookworm}
# shellcheck source=.ci/own_places.sh
. "$here/../.ci/own_places.sh"
require_own "packages/$release/root/packages"
root=$chroots/packages/$release/root
mkdir -p "$chroots"
export DDLRUN_CHROOTS=$chroots/packages
chroot() { "$here/../.ci/chroot.sh" "$release" "$@"; }
chroot true > /dev/null
rm -rf "$root/packages"
for number in 1 2; do
  RELEASE=$number DEBEMAIL=${DEBEMAIL:-nobody@packages.debian.org} \
    "$here/packages.sh" DEB "$root/packages/$number" "${BUILD:-$here/../build/run}" > /dev/null
done
# The same with a lower version, from which this one is an upgrade.
mkdir "$root/packages/0"
for package in "$root"/packages/1/*.deb; do
  tree=$(mktemp -d)
  dpkg-deb -R "$package" "$tree"
  version=$(dpkg-deb -f "$package" Version)
  sed -i "s/\b${version%-*}\b/0.0.9/" "$tree/DEBIAN/control"
  dpkg-deb -b --root-owner-group -Zgzip -z1 "$tree" "$root/packages/0/$(basename "${package/_$version/_0.0.9-1}")" > /dev/null
  rm -r "$tree"
done
if command -v lintian > /dev/null; then
  # CPack calls ldconfig beside its trigger. A first upload to Debian itself closes a bug. Without the prefix /usr the
  # libraries are not in the directory of the architecture.
  lintian --fail-on error,warning --suppress-tags \
    maintscript-calls-ldconfig,initial-upload-closes-no-bugs,pkg-config-unavailable-for-cross-compilation "$root"/packages/1/*.deb
else
  echo 'skipped: no lintian (apt-get install lintian)'
fi
chroot packaging/package_checks.sh /root/packages
