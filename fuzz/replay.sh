#!/bin/bash
# SPDX-License-Identifier: MIT
# replay.sh FUZZ_REPLAY: gives each target its committed corpus and the seeds that are files of the tests.
set -eu
here=$(dirname "$(readlink -f "$0")")
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
"$here/seeds.sh" "$seeds"
"$1" "$here/corpus" "$seeds"
