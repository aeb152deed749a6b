# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Of alarm.sh: the walltime, which no scheduler enforces.
# ----- the lines below go into the script -----
  ddl_sleep @seconds@
  ddl_say 'the walltime is used up'
  : >"$ddl_dir/timed_out"
  kill -s TERM "$$"
