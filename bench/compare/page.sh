#!/bin/bash
# SPDX-License-Identifier: MIT
# page.sh RESULTS...: prints docs/compare.md: page.md with judge.py's tables at its end.
here=$(dirname "$(readlink -f "$0")")
cat "$here/page.md"
python3 "$here/judge.py" "$@"
