# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154,SC2317,SC2329
# Starts the program and waits for it. bash runs a trap only between commands, hence `child & wait`.
# ----- the lines below go into the script -----

# Start and wait. A signal interrupts wait, so it is asked again until no signal came meanwhile.
ddl_status=143
if [ "$ddl_early$ddl_ended" = nono ]; then
  (
    trap - INT QUIT USR1 TERM EXIT
    exec -- "${ddl_command[@]}"
  ) &
  ddl_child=$!
  # what came between the question above and this line
  for ddl_name in $ddl_missed; do kill -s "$ddl_name" "$ddl_child" 2>/dev/null; done
  while :; do
    ddl_seen=$ddl_signals
    wait "$ddl_child" 2>/dev/null
    ddl_status=$?
    if [ "$ddl_seen" -eq "$ddl_signals" ]; then break; fi
  done
  # bash 5.2 can lose the status of a child that ends in the instant of a signal, and then says -1 or 127
  case $ddl_ended$ddl_status in yes-1 | yes127) ddl_status=143 ;; esac
  ddl_child=
fi
if [ "$ddl_early" = yes ]; then ddl_run_setup USR1 "$ddl_status"; fi
if [ "$ddl_ended" = yes ]; then ddl_run_setup TERM "$ddl_status"; fi
@restart@

exit "$ddl_status"
