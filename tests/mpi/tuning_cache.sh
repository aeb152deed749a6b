#!/bin/bash
# SPDX-License-Identifier: MIT
# Mode p keeps what it found: a second run tries nothing, another topology has its own file, and a file that is
# damaged or cannot be written costs a note and no more. MPI_Allreduce, which has no deadline, makes none of its sums.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/tuning_cache}
export XDG_CACHE_HOME=$work/cache
directory=$XDG_CACHE_HOME/ddlrun/explore
# A trial replaces the file of its topology, which then has another inode.
files() { find "$directory" -type f -printf '%i %p\n' 2> /dev/null | sort; }
count() { files | wc -l; }

# sums RANKS: 9 in mode p, of which a trial takes 6. tries RANKS: with a trial. knows RANKS: without.
sums() {
  before=$(files)
  expect 0 '0 of 9 sums by MPI' ranks "$1" "$program" 9
}
tries() {
  sums "$1"
  [ "$(files)" != "$before" ] || fail "$1 ranks: no new file: $before"
}
knows() {
  sums "$1"
  [ "$(files)" = "$before" ] || fail "$1 ranks: it tries again: $before, now $(files)"
  [ ! -s "$work/err" ] || fail "a note: $(head -3 "$work/err")"
}

tries 2
[ "$(count)" -eq 1 ] || fail "$(count) files after the first run"
knows 2
tries 3  # another topology
[ "$(count)" -eq 2 ] || fail "$(count) files for two topologies"
knows 3
knows 2

for file in "$directory"/*; do echo 'head -c 5' > "$file"; done
# Off, the damaged file is neither read, which would be a note, nor replaced.
for off in DDL_CACHE=off DDL_OPTIONS='-cache off'; do
  export "${off?}"
  knows 2
  unset "${off%%=*}"
done
tries 2
[ "$(grep -c 'libddl: note: .* is damaged' "$work/err")" -eq 1 ] || fail "not one note of the damage: $(cat "$work/err")"
knows 2  # it was replaced

DDL_OPTIONS="-cache $work/elsewhere" knows 2
[ "$(find "$work/elsewhere" -type f | wc -l)" -eq 1 ] || fail '-cache DIR keeps nothing there'

touch "$work/file"
export XDG_CACHE_HOME=$work/file
sums 2
[ "$(grep -c 'libddl: note: .* cannot be written' "$work/err")" -eq 1 ] || fail "not one note of it: $(cat "$work/err")"
finish
