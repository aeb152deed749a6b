#!/bin/bash
# SPDX-License-Identifier: MIT
# build_and_test.sh [CTEST-OPTION...]: installs the packages, builds (only the targets of $DDLRUN_TARGETS, if it is set) and
# runs the chosen tests.
cd "$(dirname "$0")/.." || exit 3
# shellcheck source=.ci/prepare.sh
. .ci/prepare.sh
allow_root
# shellcheck disable=SC2086,SC2154
install_packages $build_packages $data_packages $test_packages || exit 3
# shellcheck disable=SC2086
build release ${DDLRUN_TARGETS:-}
cd build/release && exec ctest -j "$(($(nproc) + 2))" --output-on-failure "$@"
