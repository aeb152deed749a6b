# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Exports the variables that the job names, for a runner that passes the environment of the script.
# ----- the lines below go into the script -----

# setup and modules may set a variable that they do not export.
ddl_passed=(@names@)
for ddl_name in "${ddl_passed[@]}"; do
  if [ -n "${!ddl_name+set}" ]; then export "${ddl_name?}"; fi
done
