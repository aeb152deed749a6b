#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the version of Open MPI 5 and starts nothing: for the arguments that launch passes.
[ "${1-}" = --version ] || { echo "this mpirun starts nothing" >&2; exit 9; }
echo "mpirun (Open MPI) 5.0.3"
