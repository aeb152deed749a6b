#!/bin/sh
# SPDX-License-Identifier: MIT
# Says that it is Open MPI 5 and starts nothing: for what launch would tell it.
[ "${1-}" = --version ] || { echo "this mpirun starts nothing" >&2; exit 9; }
echo "mpirun (Open MPI) 5.0.3"
