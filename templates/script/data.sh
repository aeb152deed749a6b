# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The directory with the data.
# ----- the lines below go into the script -----

# The data, as the program finds it.
export DDLRUN_DATA=@directory@
@copy@
