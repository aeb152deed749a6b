# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Of restart.sh: Slurm.
# ----- the lines below go into the script -----
  ddl_say "Slurm keeps a requeued job back, by default for two minutes; ddlrun status $ddl_id names the time"
  if ddl_answer=$(scontrol requeue "$ddl_id" 2>&1); then
    ddl_again=yes
  else
    case $ddl_answer in
      *'is pending execution'*)  # of a job that another `scontrol requeue` has put back
        ddl_again=yes
        ddl_say 'the job is requeued already, by another scontrol requeue'
        ;;
      *) ddl_say "scontrol requeue refused: $ddl_answer" ;;
    esac
  fi
