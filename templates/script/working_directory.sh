# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Enters the working directory.
# ----- the lines below go into the script -----

# Relative paths of the job begin here.
cd -- @directory@ || ddl_fail @message@ "ls -ld $(printf %q @directory@)   # on this host"
