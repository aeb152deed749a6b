# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Writes the exit status to a file: beside it and renamed, so that no reader sees half of it.
# ----- the lines below go into the script -----

# However this ends, its status is written down, unless the job starts again.
rm -f -- "$ddl_status_file" "$ddl_stop_file"
ddl_again=no
ddl_alarm=
unset -v ddl_setup_EXIT ddl_setup_USR1 ddl_setup_TERM
ddl_on_EXIT() {
  local status=$?
  set +e
  if [ "$BASHPID" != "$$" ]; then return; fi  # a subshell that ends early has it too
  builtin trap '' USR1 TERM
  if [ -n "$ddl_alarm" ]; then kill "$ddl_alarm" 2>/dev/null; fi
  if [ "$ddl_again" != yes ]; then
    printf '%s\n' "$status" >"$ddl_status_file.part" && mv -f -- "$ddl_status_file.part" "$ddl_status_file"
  fi
  ddl_run_setup EXIT "$status"
}
# ddl_run_setup NAME STATUS: once, what the lines of the job or the site trapped NAME with; $? there is STATUS.
ddl_run_setup() {
  local name=ddl_setup_$1
  local words=${!name-}
  printf -v "$name" %s ''
  set +u
  (exit "$2")
  eval "$words"
  set -u
}
trap ddl_on_EXIT EXIT
