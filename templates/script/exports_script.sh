# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2043
# Exports the variables that the job names, for a runner that passes the environment of the script.
# ----- the lines below go into the script -----

# setup and modules may set a variable that they do not export.
for ddl_name in @names@; do
  if [ -n "${!ddl_name+set}" ]; then export "${ddl_name?}"; fi
done
