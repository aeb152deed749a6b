# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# The traps that pass signals to the program.
# ----- the lines below go into the script -----

# Signals are passed on to the program. USR1 comes ahead of the time limit, TERM at the end.
ddl_child=
ddl_early=no
ddl_ended=no
ddl_signals=0
ddl_missed=
ddl_pass_on() {
  ddl_signals=$((ddl_signals + 1))
  if [ -n "$ddl_child" ]; then kill -s "$1" "$ddl_child" 2>/dev/null; else ddl_missed+=" $1"; fi
}
ddl_on_USR1() {
  ddl_early=yes
  ddl_pass_on @early_signal@
}
ddl_on_TERM() {
  ddl_ended=yes
  ddl_pass_on TERM
}
trap ddl_on_USR1 USR1
trap ddl_on_TERM TERM
