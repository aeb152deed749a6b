# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by script tests: runs a command, then looks at its status and its two streams.
set -u
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0
# The files of this machine's centre are no part of a test.
export DDLRUN_SITE_DIR=/nonexistent

fail() {
  printf 'FAILED %s\n' "$1"
  failures=$((failures + 1))
}
# A misspelt helper is a failure, not a line of stderr. bash calls this in a child: the name goes into a file.
command_not_found_handle() {
  printf '%s\n' "$1" >>"$work/not_found"
  return 127
}
# run COMMAND...: status in $status, streams in $work/out and $work/err
run() {
  status=0
  "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
# expect STATUS TEXT COMMAND...: the exit status, and a fixed text on stderr or stdout ('' for none)
expect() {
  local want=$1 text=$2
  shift 2
  run "$@"
  [ "$status" -eq "$want" ] || fail "status $status, not $want: $*: $(head -3 "$work/err")"
  [ -z "$text" ] || grep -qF -- "$text" "$work/err" "$work/out" || fail "no '$text' from: $*: $(head -5 "$work/err")"
}
# The directory of the run called NAME, as the run prints it.
directory_of() { sed -n 's/^ddlrun: run directory //p' "$1.err"; }

# check TEXT COMMAND...: the command must succeed.
check() { "${@:2}" || fail "$1"; }
# same TEXT EXPECTED FOUND
same() { [[ $2 == "$3" ]] || fail "$(printf '%s: expected %q, found %q' "$1" "$2" "$3")"; }
# has TEXT FILE FIXED-STRING
has() { grep -qF -- "$3" "$2" || fail "$1: no '$3' in $2: $(tail -3 "$2")"; }
has_not() { ! grep -qF -- "$3" "$2" || fail "$1: '$3' in $2"; }
# expect_refusal STATUS TEXT COMMAND...: nothing on stdout, an error with a remedy on stderr
expect_refusal() {
  expect "$@"
  [ ! -s "$work/out" ] || fail "stdout is not empty: ${*:3}"
  grep -q '^  try: .' "$work/err" || fail "no 'try:' from: ${*:3}"
}
# beside COMMAND...: COMMAND in the background, with a $work and a count of failures of its own, at most $at_once of them: for
# cases that mostly wait, side by side. all_done waits for them, prints what they print and adds their failures; finish too.
at_once=4
cases=0
beside() {
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do sleep 0.05; done
  cases=$((cases + 1))
  mkdir -p "$work/beside/$cases"
  one_case "$work/beside/$cases" "$@" > "$work/beside/$cases/printed" 2>&1 &
}
one_case() {
  local work=$1 failures=0
  "${@:2}"
  echo "$failures" > "$work/failures" # last, so that a case that ends early has failed
}
all_done() {
  local each
  wait
  for ((each = 1; each <= cases; each++)); do
    cat "$work/beside/$each/printed"
    cat "$work/beside/$each/not_found" >> "$work/not_found" 2> /dev/null
    failures=$((failures + $(cat "$work/beside/$each/failures" 2> /dev/null || echo 1)))
  done
  rm -rf "$work/beside"
  cases=0
}
finish() {
  [ "$cases" -eq 0 ] || all_done
  [ ! -s "$work/not_found" ] || fail "commands not found: $(sort -u "$work/not_found" | tr '\n' ' ')"
  [ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
  echo "all as expected"
}
