# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Of restart.sh: Slurm.
# ----- the lines below go into the script -----
  ddl_say "Slurm keeps a requeued job back, by default for two minutes; ddlrun status $ddl_id names the time"
  if scontrol requeue "$ddl_id"; then
    ddl_again=yes
  else
    ddl_say 'scontrol requeue refused'
  fi
