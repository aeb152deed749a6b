# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# The command of the runner `ddlrun`.
# ----- the lines below go into the script -----

# Each host's real topology is read, the ranks are planned, started and compared with the plan.
ddl_command=("$ddl_binary" launch @dims@@options@ --run-dir "$ddl_run_dir"
  "${ddl_exports[@]}"@program@)
