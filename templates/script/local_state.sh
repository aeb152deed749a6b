# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Prints the host's name and the stat line of each process that exists.
# ----- the lines below go into the script -----
uname -n
for pid; do cat "/proc/$pid/stat" 2>/dev/null; done
exit 0
