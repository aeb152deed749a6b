# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Open MPI 4 with PMIx under srun.
# ----- the lines below go into the script -----

# Else a rank may get a message before its MPI_Init is ready, and crash.
export SLURM_PMIX_FENCE="${SLURM_PMIX_FENCE:-ring}"
