# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced by all of the lab: its knobs, where a host keeps its things, and words to the caller.

# A lab writes its settings into its directory: later commands need only LAB_DIR.
LAB_DIR=${LAB_DIR:-/var/tmp/ddlrun-hosts}
lab_settings=(LAB_PREFIX LAB_IB_PREFIX LAB_USER LAB_UID LAB_ETH_NET LAB_IB_NET)
read_settings() {
  [ ! -e "$LAB_DIR/settings" ] || { [ -O "$LAB_DIR" ] && [ -O "$LAB_DIR/settings" ]; } || die "$LAB_DIR belongs to another user"
  # shellcheck source=/dev/null
  [ ! -e "$LAB_DIR/settings" ] || . "$LAB_DIR/settings"
  LAB_PREFIX=${LAB_PREFIX:-node}       # node1, node2, ...: the hosts' own names, those of eth0
  LAB_IB_PREFIX=${LAB_IB_PREFIX:-ib}   # ib1, ib2, ...: the names of the second interface, ib0
  LAB_USER=${LAB_USER:-ddl}
  LAB_UID=${LAB_UID:-2000}
  LAB_ETH_NET=${LAB_ETH_NET:-10.1.1}   # three bytes; host i is .i
  LAB_IB_NET=${LAB_IB_NET:-10.9.1}
}
write_settings() { declare -p "${lab_settings[@]}" | sed 's/^declare \(-[-x]* \)*//' > "$LAB_DIR/settings"; }

lab_directory=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

die() { echo "lab: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 125; }

# A host is a number, a name and a directory.
host_name() { echo "$LAB_PREFIX$1"; }
host_index() {
  local index=${1#"$LAB_PREFIX"}
  if [ ! -d "$LAB_DIR/$1" ] || [[ ! $index =~ ^[0-9]+$ ]]; then die "no host $1 in $LAB_DIR"; fi
  echo "$index"
}
host_count() { cat "$LAB_DIR/count" 2> /dev/null || die "no lab in $LAB_DIR: lab.sh up N first"; }

now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }
# wait_until SECONDS COMMAND...: polls; false if it never became true
wait_until() {
  local end=$(($(now_ms) + $1 * 1000))
  while ! "${@:2}" > /dev/null 2>&1; do
    [ "$(now_ms)" -lt "$end" ] || return 1
    sleep 0.01
  done
}
