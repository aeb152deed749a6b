# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# The variables that ddlrun launch passes to the ranks.
# ----- the lines below go into the script -----

# What reaches the ranks, by name.
ddl_exports=(@always@)
@named@
