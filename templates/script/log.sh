# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# PBS copies a job's output when the job ends; the script writes its own log.
# ----- the lines below go into the script -----

# The log grows as the job speaks; the scheduler would show it at the end only.
ddl_log=@log@
exec >>"$ddl_log" 2>&1
