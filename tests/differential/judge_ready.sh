# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests here: skips with a message if the judge is missing; sets $here and the directory $work.
set -u
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
command -v mpirun >/dev/null || { echo "skipped: no mpirun (Debian: openmpi-bin)"; exit 125; }
mpirun --version 2>/dev/null | grep -q 'Open MPI) 4\.1' || { echo "skipped: the judge is the rankfile reader of Open MPI 4.1, not installed here"; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
