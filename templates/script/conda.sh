# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Activates the conda environment.
# ----- the lines below go into the script -----

# The conda environment. A batch shell has conda, if at all, without its shell function.
command -v conda >/dev/null ||
  ddl_fail 'there is no conda on this host' 'modules: [the one that brings conda]; module avail'
eval "$(conda shell.bash hook)"
conda activate @environment@ ||
  ddl_fail @message@ 'conda env list   # names those that are there'
