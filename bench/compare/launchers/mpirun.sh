# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="mpirun" library=mpi place=hosts
version() { mpirun --version | head -n 1; }
type_command() { words=(mpirun --host "node1:2,$second:2" "${program[@]}"); }
