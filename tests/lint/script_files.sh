#!/bin/bash
# SPDX-License-Identifier: MIT
# Each file of templates/script/ passes shellcheck and has the line that ends its header; fuzz/*.sh, the scripts of packaging/ and
# completion/*.bash pass shellcheck.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
failures=0
for file in templates/script/*.sh; do
  shellcheck "$file" || failures=$((failures + 1))
  if [ "$(grep -cxF '# ----- the lines below go into the script -----' "$file")" != 1 ]; then
    echo "$file: the line that ends the header is missing"
    failures=$((failures + 1))
  fi
done
for file in fuzz/*.sh packaging/*.sh packaging/container/*.sh packaging/python3/* completion/*.bash; do shellcheck -x "$file" || failures=$((failures + 1)); done
[ "$failures" = 0 ] || exit 1
echo "the script files hold"
