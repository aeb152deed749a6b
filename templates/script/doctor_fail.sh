# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Runs doctor; the job ends if doctor reports a problem.
# ----- the lines below go into the script -----

# What would break on these hosts ends the job before anything is started.
"$ddl_binary" doctor@hosts@ --quick --dims @dims@@via@@choice@@program@ >&2 || {
  ddl_status=$?
  ddl_fail "doctor's status is $ddl_status: nothing is started" \
    'the remedies above; --doctor warn goes on where the job can run nevertheless' "$ddl_status"
}
