# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced: all faults. lib.sh says what a fault is.
faults=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=tests/cluster/faults/lib.sh
. "$faults/lib.sh"
for subject in names ssh limits network files software slurm; do
  # shellcheck source=/dev/null
  . "$faults/$subject.sh"
done

doctor_environment=() # NAME=VALUE in doctor's environment
doctor_more=()        # more words for it

# What remains after a repair that did not turn the clock back (another key, another interface's MTU).
undo() { ! declare -F "undo_$1" > /dev/null || "undo_$1" "${@:2}"; }

# Why a fault cannot be made on this machine; false if it can.
fault_cannot() {
  case $1 in
    filtered | no_node_ssh | jumbo) ! filters_work && echo "no nftables in this kernel or on this disk" ;;
    drained | no_controller) ! command -v slurmctld > /dev/null && echo "no Slurm here" ;;
    clock) [ -z "$(fake_time_library)" ] && echo "no libfaketime" ;;
    underscore) [ "$mpi_major" = 5 ] && echo "Open MPI 5 takes names with _" ;;
    few_cores) [ "$(nproc)" -lt 2 ] && echo "one core" ;;
    full_disk) [ "$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)" -lt 8000 ] && echo "too little memory" ;;
    *) false ;;
  esac
}

# These take 10 s and more each: only by name, with LAB_SIZES or with LAB_FULL=1.
slow_faults=" slow_login jumbo no_controller no_node_ssh "
# choose_faults [NAME...]: those, else all, else the part that LAB_PART=I/N names.
choose_faults() {
  local part=${LAB_PART:-1/1} chosen=() i
  if [ $# -gt 0 ]; then
    for i in "$@"; do
      [ -n "${fault_id[$i]-}" ] || { echo "no fault '$i'; there are: ${fault_names[*]}"; exit 2; }
    done
    fault_names=("$@")
    return
  fi
  for ((i = ${part%/*} - 1; i < ${#fault_names[@]}; i += ${part#*/})); do
    if [ -z "${LAB_FULL-}${LAB_SIZES-}" ] && [[ $slow_faults == *" ${fault_names[i]} "* ]]; then
      echo "left to LAB_FULL=1: ${fault_names[i]}"
    else
      chosen+=("${fault_names[i]}")
    fi
  done
  fault_names=("${chosen[@]}")
}
