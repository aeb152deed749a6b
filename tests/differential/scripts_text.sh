#!/bin/bash
# SPDX-License-Identifier: MIT
# scripts_text.sh SCRIPTS: rendered scripts before shellcheck, and before a reader of qsub's directives.
# DDLRUN_SHELLCHECKS scripts are written (60).
set -u
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
count=${DDLRUN_SHELLCHECKS:-60}
"$1" samples "$count" "$work" || exit 1
status=0

python3 "$here/qsub_grammar.py" --self-test || status=1
python3 "$here/qsub_grammar.py" "$work"/pbs_*.sh || status=1
python3 "$here/qsub_grammar.py" --torque "$work"/torque_*.sh || status=1
for script in "$work"/*.sh; do bash -n "$script" || status=1; done
if command -v shellcheck >/dev/null; then
  printf '%s\0' "$work"/*.sh | xargs -0 -n 50 shellcheck -S style -s bash || status=1
  [ "$status" -ne 0 ] || echo "shellcheck has nothing to say about $count scripts"
else
  echo "without shellcheck (Debian: shellcheck)"
fi
exit "$status"
