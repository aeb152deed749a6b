#!/bin/bash
# SPDX-License-Identifier: MIT
# test_bundle.sh [RELEASE...]: unpacks a bundle in clean chroots of Debian releases (bullseye bookworm trixie) and runs it
# there without network: once with nothing but the base system, once with the release's Open MPI and MPICH. BUNDLE: the
# archive (default: made of build/run). Needs root, debootstrap and iproute2. The chroots are kept in $DDLRUN_CHROOTS.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
[ "$(id -u)" -eq 0 ] || { echo "test_bundle.sh needs root, for chroots" >&2; exit 3; }
[ $# -gt 0 ] || set -- bullseye bookworm trixie
# shellcheck source=.ci/own_places.sh
. "$here/../.ci/own_places.sh"
for release; do
  for kind in bundle-bare bundle-mpi; do require_own "$kind/$release/root/bundle.tar.gz"; done
done
mkdir -p "$chroots"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
if [ -z "${BUNDLE:-}" ]; then
  BUNDLE=$work/ddlrun.tar.gz
  "$here/bundle.sh" "$BUNDLE"
fi
# in_chroot KIND RELEASE COMMAND...
in_chroot() { DDLRUN_CHROOTS=$chroots/$1 "$here/../.ci/chroot.sh" "${@:2}"; }
# offline KIND RELEASE COMMAND...: the same with a loopback interface only.
# shellcheck disable=SC2016
offline() { unshare --net bash -c 'ip link set lo up && exec "$@"' offline env DDLRUN_CHROOTS="$chroots/$1" "$here/../.ci/chroot.sh" "${@:2}"; }
status=0
for release; do
  for kind in bundle-bare bundle-mpi; do
    in_chroot "$kind" "$release" true > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 3; }
    if [ "$kind" = bundle-mpi ]; then
      in_chroot "$kind" "$release" sh -c 'command -v mpirun mpiexec.mpich > /dev/null || { apt-get update &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends openmpi-bin mpich; }' > "$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 3; }
    fi
    cp "$BUNDLE" "$chroots/$kind/$release/root/bundle.tar.gz"
    echo "== $release, $kind"
    offline "$kind" "$release" packaging/bundle_checks.sh /root/bundle.tar.gz || status=1
  done
done
exit $status
