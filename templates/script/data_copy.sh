# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Copies the data to every host.
# ----- the lines below go into the script -----
ddl_source=@source@
@on_each_host@bash -c @script@ copy "$ddl_source" "$DDLRUN_DATA" ||
  ddl_fail "the data could not be copied to $DDLRUN_DATA on every host" "ls -la $(printf %q "$DDLRUN_DATA"); df $(printf %q "$DDLRUN_DATA")   # on that host; or another directory under to:"
