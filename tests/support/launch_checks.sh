# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests of launch, on top of check.sh: named runs whose streams are kept, and small comparisons.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/check.sh"
command -v mpirun > /dev/null || { echo "no mpirun here (apt-get install openmpi-bin)"; exit 125; }
case $(mpirun --version 2>&1) in
  *"(Open MPI) 4."*) open_mpi=4 ;;
  *"(Open MPI) 5."*) open_mpi=5 ;;
  *) echo "this mpirun is not Open MPI 4's or 5's"; exit 125 ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 XDG_STATE_HOME=$work/state
unset OMP_NUM_THREADS CUDA_DEVICE_ORDER
cd "$work" || exit 2

# launch NAME ARGUMENTS...: streams in NAME.out and NAME.err, the exit status in $status.
launch() {
  local name=$1
  shift
  status=0
  "$DDLRUN" launch "$@" > "$name.out" 2> "$name.err" < /dev/null || status=$?
}

# Parts that run side by side have a directory and a record of runs of their own.
own_place() { cd "$work" && export XDG_STATE_HOME=$work/state; }

# (The brackets keep grep from finding itself.)
left() { grep -lzxe "[${1:0:1}]${1:1}" /proc/[0-9]*/cmdline 2> /dev/null | wc -l; }
# wait_for WORD COUNT: until so many processes have it; false after 10 s
wait_for() {
  for _ in $(seq 1 100); do
    [[ $(left "$1") -eq $2 ]] && return 0
    sleep 0.1
  done
  return 1
}
