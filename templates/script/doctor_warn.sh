# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Runs doctor; the job continues whatever doctor reports.
# ----- the lines below go into the script -----

# Report what would break on these hosts; the job continues.
"$ddl_binary" doctor@hosts@ --quick --dims @dims@@via@@choice@@program@ >&2 || ddl_say 'doctor found something; the job goes on'
