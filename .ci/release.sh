#!/bin/bash
# SPDX-License-Identifier: MIT
# release.sh VERSION [STEP...]: the checklist of a release. It runs each step, or only those that are named, continues after
# a failed one, and ends with what passed, failed or was skipped. It changes nothing: the tag is the last line that it prints.
# Steps: tree, version, tests, sanitizers, reproducible, forky, fuzz (FUZZ_SECONDS for each target, 3600), long.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 3
version=${1:?usage: release.sh VERSION [STEP...]}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "'$version' is not a version such as 1.2.3" >&2; exit 2; }
shift
logs=build/release-$version
mkdir -p "$logs"

tree() { # nothing uncommitted, on main
  [ -z "$(git status --porcelain)" ] || { git status --short; return 1; }
  [ "$(git rev-parse --abbrev-ref HEAD)" = main ]
}
version() { # the same in all files that have it, and a dated section of the changelog
  grep -q "project(ddlrun VERSION $version " CMakeLists.txt || { echo "CMakeLists.txt has another version"; return 1; }
  grep -qx "version: $version" CITATION.cff || { echo "CITATION.cff has another version"; return 1; }
  grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md || { echo "CHANGELOG.md has no '## $version (DATE)'"; return 1; }
  ! git rev-parse -q --verify "refs/tags/v$version" > /dev/null || { echo "the tag v$version exists"; return 1; }
}
tests() { .ci/run; }
sanitizers() { # libddl's threads; test.sh ran the others
  cmake -B build/tsan -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-fsanitize=thread -DDDLRUN_CUDA=OFF -DDDLRUN_TESTS=ON &&
    cmake --build build/tsan --target unit_ddl unit_runtime &&
    TSAN_OPTIONS=suppressions=$PWD/tests/support/thread_sanitizer.supp setarch -R ctest --test-dir build/tsan -R '^unit_(ddl|runtime)$' --output-on-failure
}
reproducible() { .ci/reproducible.sh; }
forky() { [ "$(id -u)" -eq 0 ] || return 125; .ci/chroot.sh forky ./test.sh; }
fuzz() {
  command -v clang++ > /dev/null || return 125
  cmake --preset fuzz && cmake --build --preset fuzz --target fuzz/all && fuzz/run.sh all "${FUZZ_SECONDS:-3600}"
}
long() { # the long forms of tests that CI runs in a short form
  [ "$(id -u)" -eq 0 ] || return 125
  DDLRUN_PEERS=all LAB_FULL=1 MATRIX_FULL=1 KILLS=200 ctest --preset release -L 'cluster|peers' --output-on-failure
}

steps=(tree version tests sanitizers reproducible forky fuzz long)
[ $# -eq 0 ] || steps=("$@")
failed=0
summary=''
for step in "${steps[@]}"; do
  [[ " tree version tests sanitizers reproducible forky fuzz long " == *" $step "* ]] || { echo "no step '$step'" >&2; exit 2; }
  begun=$SECONDS
  echo "== $step: $logs/$step.log"
  "$step" > "$logs/$step.log" 2>&1
  status=$?
  case $status in
    0) result=passed ;;
    125) result='skipped (needs root, or clang)' ;;
    *) result="failed with status $status"; failed=1; tail -n 5 "$logs/$step.log" ;;
  esac
  summary+=$(printf '%-14s %s in %d s' "$step" "$result" $((SECONDS - begun)))$'\n'
done
printf '\n%s' "$summary"
[ "$failed" -eq 0 ] || exit 1
echo "to tag it: git tag -a v$version -m 'ddlrun $version' && git push origin v$version"
