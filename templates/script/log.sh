# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# PBS copies a job's output when the job ends; the script writes its own log.
# ----- the lines below go into the script -----

# The log grows while the job runs; the scheduler would show it only at the end.
ddl_log=@log@
exec >>"$ddl_log" 2>&1
