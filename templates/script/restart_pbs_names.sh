# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Of restart_pbs.sh: the variables that the next start gets.
# ----- the lines below go into the script -----
  ddl_passed=(@names@)
  for ddl_name in "${ddl_passed[@]}"; do
    if [ -n "${!ddl_name+set}" ]; then ddl_names+=,$ddl_name; fi
  done
