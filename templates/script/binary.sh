# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Checks that the host has ddlrun.
# ----- the lines below go into the script -----

# ddlrun must be here too.
ddl_binary=@ddlrun@
command -v -- "$ddl_binary" >/dev/null ||
  ddl_fail "$ddl_binary is not on this host, or may not be run" 'ddlrun: /its/path/on/the/hosts'
@run_dir@
@restarted@
