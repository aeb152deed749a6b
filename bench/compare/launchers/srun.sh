# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="srun" library=mpi place=slurm
version() { on node1 srun --version; }
type_command() { words=(srun -N 2 "${wanted[@]}" --ntasks-per-node 2 --mpi pmix "${program[@]}"); }
