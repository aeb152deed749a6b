# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# The command without a runner.
# ----- the lines below go into the script -----

ddl_command=("${ddl_program[@]}")
