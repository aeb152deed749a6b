# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Of restart.sh: PBS and Torque. `qrerun` needs an operator's rights, so the job submits itself again, to start
# after this one. Options of the qsub line take precedence over the script's directives.
# ----- the lines below go into the script -----
  ddl_names=DDLRUN_RESTARTS=$((ddl_restarts + 1))
@names@
  if ddl_next=$(qsub -W "depend=afterany:$ddl_id" -v "$ddl_names" @script@) && [ -n "$ddl_next" ]; then
    ddl_again=yes
    printf '%s\n' "$ddl_next" >"$ddl_dir/next_job.part" && mv -f -- "$ddl_dir/next_job.part" "$ddl_dir/next_job"
  else
    ddl_say 'qsub refused the next start'
  fi
