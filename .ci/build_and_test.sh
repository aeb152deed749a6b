#!/bin/bash
# SPDX-License-Identifier: MIT
# build_and_test.sh [CTEST-OPTION...]: installs the packages, builds, runs the chosen tests and prints the versions with
# which they ran.
cd "$(dirname "$0")/.." || exit 3
# shellcheck source=.ci/prepare.sh
. .ci/prepare.sh
allow_root
# shellcheck disable=SC2086,SC2154
install_packages $build_packages $data_packages $test_packages || exit 3
build release
versions() {
  # shellcheck source=/dev/null
  . /etc/os-release && echo "$PRETTY_NAME"
  c++ --version | head -n 1
  mpirun --version | head -n 1
  sinfo --version
  mpiexec.hydra --version 2> /dev/null | sed -n 's/^ *Version: */MPICH /p'
}
say "tested with: $(versions | paste -sd ';' | sed 's/;/; /g')"
cd build/release && exec ctest -j "$(nproc)" --output-on-failure "$@"
