# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Of restart.sh: without a scheduler.
# ----- the lines below go into the script -----
  builtin trap - EXIT USR1 TERM
  if [ -n "$ddl_alarm" ]; then kill "$ddl_alarm" 2>/dev/null; fi
  (ddl_run_setup EXIT "$ddl_status")
  DDLRUN_RESTARTS=$((ddl_restarts + 1)) exec bash -- @script@
