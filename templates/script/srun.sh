# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# The command of the runner `srun`.
# ----- the lines below go into the script -----

ddl_command=(srun@cpus@ --cpu-bind=cores@mpi@ --kill-on-bad-exit=1 -- "${ddl_program[@]}")
