# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Adds the exported variables of these prefixes, but for names that look secret. The job expands NCCL_* only
# after modules and setup have run.
# ----- the lines below go into the script -----
ddl_prefixes=(@prefixes@)
for ddl_prefix in "${ddl_prefixes[@]}"; do
  for ddl_name in $(compgen -e "$ddl_prefix"); do
@skip_secrets@
    case " ${ddl_passed[*]-} " in *" $ddl_name "*) continue ;; esac
    ddl_passed+=("$ddl_name")
  done
done
