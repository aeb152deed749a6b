# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2043
# ddlrun launch rejects a variable that is not set, so the script passes only those that are.
# ----- the lines below go into the script -----
ddl_passed=(@names@)
@wildcards@
for ddl_name in @all@; do
  if [ -n "${!ddl_name+set}" ]; then
    export "${ddl_name?}"
    ddl_exports+=(-x "$ddl_name")
  fi
done
