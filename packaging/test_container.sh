#!/bin/bash
# SPDX-License-Identifier: MIT
# test_container.sh: runs the commands of packaging/container/Containerfile in two chroots of Debian, one for each stage.
# ddlrun.def has the same commands (tests/lint/recipes.py). Needs root, debootstrap and Debian's mirror, but no container
# runtime. The chroots are kept in $DDLRUN_CHROOTS.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
[ "$(id -u)" -eq 0 ] || { echo "test_container.sh needs root, for chroots" >&2; exit 3; }
containerfile=$here/container/Containerfile
release=$(sed -n 's/^FROM debian:\([a-z]*\)-slim AS build$/\1/p' "$containerfile")
mapfile -t commands < <(sed -n 's/^RUN //p' "$containerfile")
# shellcheck source=.ci/own_places.sh
. "$here/../.ci/own_places.sh"
require_own "container-build/$release/packages"
require_own "container-final/$release/packages"
final=$chroots/container-final/$release
in_stage() { DDLRUN_CHROOTS=$chroots/container-$1 "$here/../.ci/chroot.sh" "$release" "${@:2}"; }
mkdir -p "$chroots"
in_stage build sh -c "ln -sfn /root/ddlrun /src && rm -rf /packages && ${commands[0]}"
in_stage final true
rm -rf --one-file-system "$final/packages"
cp -r "$chroots/container-build/$release/packages" "$final/packages"
install -m 755 "$here/container/install.sh" "$final/packages/"
in_stage final sh -c "${commands[1]}"
in_stage final ddlrun topo
in_stage final ddl-train --data /usr/share/ddlrun/data/fashion-mnist-subset --max-steps 2 --quiet
