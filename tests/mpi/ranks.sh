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
  # As launch does: Open MPI 5.0.7 pairs no interfaces of a host with IPv4 and IPv6 (open-mpi/ompi#14079).
  [[ $(mpirun --version 2>&1) != *'(Open MPI) 5.'* ]] || export OMPI_MCA_btl_tcp_disable_family=6
fi
ranks() {
  local count=$1
  shift
  timeout 120 "${launcher[@]}" -n "$count" "$@"
}
# pair FIRST... -- SECOND...: rank 0 does FIRST, rank 1 SECOND. A line `mpirun -n 1 A : -n 1 B` ends the mpirun of
# Debian 13 by a segmentation fault (PMIx 5.0.7, pmdl/ompi; open-mpi/ompi#13303).
cat > "$work/pair" << 'PAIR'
#!/bin/bash
first=()
while [ "$1" != -- ]; do first+=("$1"); shift; done
shift
[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" -ne 0 ] || exec "${first[@]}"
exec "$@"
PAIR
chmod +x "$work/pair"
pair() { ranks 2 "$work/pair" "$@"; }
