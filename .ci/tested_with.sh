#!/bin/bash
# SPDX-License-Identifier: MIT
# .ci/tested_with.sh: prints one row of README's table "Tested with" for this system: what the tests ran with.
# .ci/tested_with.sh --update ROW...: writes rows into that table and into that of README.ko.md, each in place of the row of
# the same system.
set -eu
cd "$(dirname "$0")/.."

# Of a Debian package, without epoch and revision.
version() { dpkg-query -W -f='${Version}\n' "$1" 2> /dev/null | sed -E 's/^[0-9]+://; s/-[^-]*$//; s/.*[+]really//; s/[+~](dfsg|ds|repack)[^ ]*//'; }

row() {
  # shellcheck source=/dev/null
  . /etc/os-release
  # shellcheck disable=SC2153 # of os-release
  local system="${NAME%% *} ${VERSION_ID:-${VERSION_CODENAME:-testing}}" name
  for name in g++ openmpi-bin mpich slurm-client libhwloc-dev libdnnl-dev; do system+=" | $(version "$name")"; done
  printf '| %s | %s |\n' "$system" "${1:-whole suite}"
}

update() {
  local file row
  for file in README.md README.ko.md; do
    for row in "$@"; do update_row "$file" "$row"; done
  done
  git diff --quiet -- README.md README.ko.md 2> /dev/null || echo "README.md: the table 'tested on' has changed; commit it"
}

update_row() { # FILE ROW
  local system=${2#| }
  system=${system%% |*}
  if grep -q "^| $system |" "$1"; then
    ROW=$2 awk -v head="| $system |" 'index($0, head) == 1 { print ENVIRON["ROW"]; next } { print }' "$1" > "$1.new"
  else
    # At the end of the table.
    ROW=$2 awk 'inside && !/^\|/ { print ENVIRON["ROW"]; inside = 0 } { print } /^\|.*\| GCC \|/ { inside = 1 }' "$1" > "$1.new"
  fi
  mv "$1.new" "$1"
}

case ${1:-} in
  --update) shift && update "$@" ;;
  *) row "$@" ;;
esac
