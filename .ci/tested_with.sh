#!/bin/bash
# SPDX-License-Identifier: MIT
# .ci/tested_with.sh: prints one row of README's table "Tested with" for this system: what the tests ran with.
# .ci/tested_with.sh --update ROW...: writes rows into that table, each in place of the row of the same system.
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
  local system row
  for row in "$@"; do
    system=${row#| }
    system=${system%% |*}
    if grep -q "^| $system |" README.md; then
      ROW=$row awk -v head="| $system |" 'index($0, head) == 1 { print ENVIRON["ROW"]; next } { print }' README.md > README.md.new
    else
      # At the end of the table.
      ROW=$row awk 'inside && !/^\|/ { print ENVIRON["ROW"]; inside = 0 } { print } /^\| tested on / { inside = 1 }' \
        README.md > README.md.new
    fi
    mv README.md.new README.md
  done
  git diff --quiet -- README.md 2> /dev/null || echo "README.md: the table 'tested on' has changed; commit it"
}

case ${1:-} in
  --update) shift && update "$@" ;;
  *) row "$@" ;;
esac
