#!/bin/bash
# SPDX-License-Identifier: MIT
# The scripts that write into chroots as root refuse a place that is a link or belongs to another user, at each step.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
[ "$(id -u)" -eq 0 ] || { echo 'skipped: only root can change the owner of a directory'; exit 125; }
export DDLRUN_CHROOTS=$work/chroots BUNDLE=/nonexistent
# refused PLACE COMMAND...
refused() {
  local place=$1
  shift
  mkdir -p "$(dirname "$place")"
  ln -s "$work/elsewhere" "$place"
  expect 3 "$place belongs to another user, or is a link" "$@"
  rm "$place"
  mkdir "$place"
  chown 65534 "$place"
  expect 3 "$place belongs to another user, or is a link" "$@"
  rm -r "$work/chroots"
  [ ! -e "$work/elsewhere" ] || fail "$* wrote through a link"
}
chroots=$work/chroots
for kind in '' /bundle-bare /bundle-mpi/bookworm /bundle-mpi/bookworm/root; do
  refused "$chroots$kind" packaging/test_bundle.sh bookworm
done
for place in '' /packages /packages/bookworm /packages/bookworm/root/packages; do
  refused "$chroots$place" packaging/test_packages.sh bookworm
done
for place in '' /container-build /container-final/bookworm /container-final/bookworm/packages; do
  refused "$chroots$place" packaging/test_container.sh
done
for place in '' /bookworm /bookworm/root /bookworm/root/ddlrun; do refused "$chroots$place" .ci/chroot.sh bookworm true; done
finish
