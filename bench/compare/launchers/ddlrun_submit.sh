# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="ddlrun submit" library=mpi place=slurm
type_command() { words=(ddlrun submit --slurm 2x2x1 "${wanted[@]#*=}" --walltime 10m -- "${program[@]}"); }
