# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests here: ranks N COMMAND... starts any number of ranks on any machine.
. "$(dirname "${BASH_SOURCE[0]}")/../support/check.sh"
train=${1:?usage: $0 PATH/TO/ddl-train}
subset=$(dirname "${BASH_SOURCE[0]}")/../data/fashion-mnist-subset
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1

skip() {
  echo "skipped: $1"
  exit 125
}
command -v mpirun > /dev/null || skip "no mpirun; apt-get install openmpi-bin"
launcher=(mpirun)
if mpirun --version 2>&1 | grep -q 'Open MPI'; then
  launcher+=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
fi
ranks() {
  local count=$1
  shift
  timeout 120 "${launcher[@]}" -n "$count" "$@"
}
