# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2170
# Decides whether the job starts again.
# ----- the lines below go into the script -----

# Start again if the program exits with 75, or got the early signal and did not finish.
ddl_wanted=no
if [ "$ddl_status" -eq 75 ]; then ddl_wanted=yes; fi
if [ "$ddl_early" = yes ] && [ "$ddl_status" -ne 0 ]; then ddl_wanted=yes; fi
if [ "$ddl_ended" = yes ]; then ddl_wanted=no; fi
if [ "$ddl_wanted" = yes ] && [ "$ddl_restarts" -ge @most@ ]; then
  ddl_say "status $ddl_status after $ddl_restarts restarts, of @most@ at most"
elif [ "$ddl_wanted" = yes ]; then
  ddl_say "status $ddl_status: the job starts again, restart $((ddl_restarts + 1))"
@command@
fi
