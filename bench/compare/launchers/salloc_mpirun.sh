# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="mpirun in salloc" library=mpi place=slurm
type_command() { words=(salloc -N 2 "${wanted[@]}" --ntasks-per-node 2 mpirun "${program[@]}"); }
