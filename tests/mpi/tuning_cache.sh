#!/bin/bash
# SPDX-License-Identifier: MIT
# Mode p keeps what it found: a second run tries nothing, another topology has its own file, and a file that is
# damaged or cannot be written costs a note and no more. In a run that tries, MPI makes 3 of the first 9 sums.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/tuning_cache}
export XDG_CACHE_HOME=$work/cache
directory=$XDG_CACHE_HOME/ddlrun/explore
files() { find "$directory" -type f 2> /dev/null | wc -l; }

# tries RANKS, knows RANKS: by the count of MPI's own sums, of 9: 3 while all ways are tried, then 0 or all.
tries() {
  expect 0 '3 of 9 sums' ranks "$1" "$program" 9
}
knows() {
  expect 0 ' of 9 sums' ranks "$1" "$program" 9
  grep -q '^[09] of 9' "$work/out" || fail "$1 ranks: it tries again: $(cat "$work/out")"
  [ ! -s "$work/err" ] || fail "a note: $(head -3 "$work/err")"
}

tries 2
[ "$(files)" -eq 1 ] || fail "$(files) files after the first run"
knows 2
tries 3  # another topology
[ "$(files)" -eq 2 ] || fail "$(files) files for two topologies"
knows 3
knows 2

for file in "$directory"/*; do echo 'head -c 5' > "$file"; done
tries 2
[ "$(grep -c 'libddl: note: .* is damaged' "$work/err")" -eq 1 ] || fail "not one note of the damage: $(cat "$work/err")"
knows 2  # it was replaced

for off in DDL_CACHE=off DDL_OPTIONS='-cache off'; do
  export "${off?}"
  tries 2
  [ ! -s "$work/err" ] || fail "$off: a note: $(head -3 "$work/err")"
  unset "${off%%=*}"
done
DDL_OPTIONS="-cache $work/elsewhere" tries 2
[ "$(find "$work/elsewhere" -type f | wc -l)" -eq 1 ] || fail '-cache DIR keeps nothing there'

touch "$work/file"
export XDG_CACHE_HOME=$work/file
tries 2
[ "$(grep -c 'libddl: note: .* cannot be written' "$work/err")" -eq 1 ] || fail "not one note of it: $(cat "$work/err")"
finish
