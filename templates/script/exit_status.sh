# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Writes the exit status to a file: beside it and renamed, so that no reader sees half of it.
# ----- the lines below go into the script -----

# However this ends, its status is written down, unless the job starts again.
rm -f -- "$ddl_status_file"
ddl_again=no
ddl_alarm=
ddl_end() {
  local status=$?
  if [ "$BASHPID" != "$$" ]; then return; fi  # a subshell that ends early has it too
  trap '' USR1 TERM
  if [ -n "$ddl_alarm" ]; then kill "$ddl_alarm" 2>/dev/null; fi
  if [ "$ddl_again" = yes ]; then return; fi
  printf '%s\n' "$status" >"$ddl_status_file.part" && mv -f -- "$ddl_status_file.part" "$ddl_status_file"
}
trap ddl_end EXIT
