# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2317,SC2329
# Sends the early signal and enforces the walltime where the scheduler does not.
# ----- the lines below go into the script -----

# An alarm of our own, for want of the scheduler's. It ends with the job.
@forget_timeout@
(
  trap - EXIT USR1
  ddl_sleeper=
  trap 'kill "$ddl_sleeper" 2>/dev/null; exit' TERM
  ddl_sleep() {
    sleep "$1" &
    ddl_sleeper=$!
    wait "$ddl_sleeper" 2>/dev/null
  }
@early@
@limit@
) </dev/null >/dev/null &
ddl_alarm=$!
