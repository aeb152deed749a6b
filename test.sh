#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds everything with warnings as errors, runs the whole suite; then the unit tests
# once more under AddressSanitizer and UndefinedBehaviorSanitizer, which are built while the suite runs.
# ./test.sh [ctest options]
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
. .ci/prepare.sh

# shellcheck disable=SC2086
install_packages $build_packages $data_packages $test_packages
build release
allow_root

# It takes what the suite leaves free of the cores, before a chroot that .ci/run prepares.
with_spare_cores 15 bash -c '. .ci/prepare.sh; build dev unit_tests' > build/sanitizers.log 2>&1 &
building=$!
trap 'kill -TERM -- "-$building" 2> /dev/null || true' EXIT

say "the whole suite"
status=0
# Two more than cores: most long tests wait, and tests that need the cores have a RESOURCE_LOCK.
ctest --preset release -j "$(($(nproc) + 2))" "$@" || status=$?
# Some tests measure time: on a busy machine one may fail beside others. It runs once more, alone, and is named.
logs=build/release/Testing/Temporary
failed=$logs/LastTestsFailed.log
rm -f "$logs/FirstTest.log"
if [ "$status" -eq 8 ] && [ -s "$failed" ] && [ "$(wc -l < "$failed")" -le 2 ]; then
  wait "$building" || true # below its status is asked for again
  say "once more, alone: $(tr '\n' ' ' < "$failed")"
  cp "$logs/LastTest.log" "$logs/FirstTest.log"
  names=$(tr '\n' ' ' < "$failed")
  status=0
  ctest --preset release --rerun-failed --repeat until-fail:2 || status=$?
  [ "$status" -ne 0 ] || echo "flaky: failed beside other tests, passed twice alone: $names"
fi
grep -shE '^skipped: ' "$logs"/{First,Last}Test.log | sort | uniq -c || true

say "unit tests under sanitizers"
wait "$building" || { status=$?; cat build/sanitizers.log; exit "$status"; }
ctest --preset dev -L unit -j "$(nproc)" --output-on-failure || status=$?
exit "$status"
