#!/bin/bash
# SPDX-License-Identifier: MIT
# Started sums beside the program's own calls of MPI, with MPI_THREAD_MULTIPLE.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/own_calls}
expect 0 'average 1, sum 2' ranks 2 "$program"
finish
