#!/bin/bash
# SPDX-License-Identifier: MIT
# next_release.sh RELEASE [build|test]: in a chroot of that Debian release, builds what the tests below need, or also runs
# them: those that depend most on the system's Open MPI, MPICH and Slurm.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
modules='launch rankfile'
run=(--repeat until-pass:2)
[ "${2:-test}" = test ] || run=(-N)
# shellcheck disable=SC2086
exec .ci/chroot.sh "$1" env DDLRUN_TARGETS="ddlrun ddl-train $(printf 'unit_%s ' $modules)" .ci/build_and_test.sh "${run[@]}" \
  -R "^(unit_(${modules// /|})|cli_(launch(|ers|_stalls|_watch|_words)|submit)|cluster_(smoke|names|launchers|launch_ssh|submit|healthy))\$"
