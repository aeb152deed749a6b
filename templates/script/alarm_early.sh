# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Of alarm.sh: the early signal.
# ----- the lines below go into the script -----
  ddl_sleep @seconds@
  kill -s USR1 "$$"
