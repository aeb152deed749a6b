#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From an empty machine to a trained network: installs what is missing, builds, looks at this machine, shows the
# rankfile and the mpirun line, and trains LeNet-5 on Fashion-MNIST under them.  ./run.sh [ddl-train options]
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
. .ci/prepare.sh

# shellcheck disable=SC2086
install_packages $build_packages $data_packages
build run
allow_root
ddlrun=build/run/bin/ddlrun

say "ddlrun topo"
$ddlrun topo

say "ddlrun launch --dry-run: what would run, and why"
$ddlrun launch --dry-run

say "ddlrun launch: plan, check, run, verify"
$ddlrun launch -- --metrics build/run/metrics.jsonl "$@"
