#!/bin/bash
# SPDX-License-Identifier: MIT
# reproducible.sh [CMAKE-OPTION...]: builds the committed sources in two directories and compares each installed file.
# -DDDLRUN_RUNTIME=OFF: ddlrun alone. JOBS: compilers at once (default: the cores).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for place in one another/deeper/place; do
  mkdir -p "$work/$place/src"
  git archive HEAD | tar -x -C "$work/$place/src"
  (
    cd "$work/$place/src"
    cmake --preset run "$@" > ../log 2>&1 && cmake --build --preset run -j "${JOBS:-$(nproc)}" > ../log 2>&1 &&
      cmake --install build/run --prefix "$work/$place/installed" > ../log 2>&1
  ) || { tail -n 30 "$work/$place/log" >&2; exit 3; }
  (cd "$work/$place/installed" && find . -type f -print0 | sort -z | xargs -0 sha256sum) > "$work/$place/sums"
done
diff "$work/one/sums" "$work/another/deeper/place/sums" || { echo "these files differ between two builds"; exit 1; }
echo "$(wc -l < "$work/one/sums") installed files are the same in two builds"
