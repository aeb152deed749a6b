# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Activates the Python virtual environment.
# ----- the lines below go into the script -----

# The virtual environment.
# shellcheck source=/dev/null
. @activate@ ||
  ddl_fail @message@ "python3 -m venv $(printf %q @directory@)   # makes it"
