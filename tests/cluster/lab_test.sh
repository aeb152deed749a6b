# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced by tests that need hosts, on top of check.sh: a lab in its own directory, removed when the test ends.
#   lab_up N              brings N hosts up; where that cannot be, the test is skipped (125)
#   on HOST CMD...        CMD there as the lab's user; with the environment of a login
#   as_root HOST CMD...   the same as root
#   lab CMD...            lab.sh for this lab        slurm CMD..., pbs CMD...   slurm.sh, pbs.sh
# $lab_home is the hosts' shared home as this machine sees it; the tool under test is copied to ~/bin, $tool there.
lab_tests=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=tests/support/check.sh
. "$lab_tests/../support/check.sh"

# shellcheck source=tests/cluster/lib/settings.sh
. "$lab_tests/lib/settings.sh"
# shellcheck source=tests/cluster/lib/processes.sh
. "$lab_tests/lib/processes.sh"
# A test that was killed outright could not clean up: the next test does it.
for lab_base in /var/tmp/ddlrun-lab-test.*/; do
  [ -e "$lab_base/owner" ] && gone "$lab_base/owner" && LAB_DIR=${lab_base}lab "$lab_tests/lab.sh" down > /dev/null &&
    rm -rf --one-file-system "$lab_base"
done
lab_base=$(mktemp -d /var/tmp/ddlrun-lab-test.XXXXXX) || exit 1
record_process "$lab_base/owner" $$
chmod 755 "$lab_base" # Slurm runs scripts from below it as the user
export LAB_DIR=$lab_base/lab
trap 'lab_end' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
lab_end() {
  trap "" INT TERM HUP
  lab down > /dev/null || echo "lab: something is left in $LAB_DIR"
  rm -rf --one-file-system "$lab_base" "$work"
}

lab() { "$lab_tests/lab.sh" "$@"; }
slurm() { "$lab_tests/slurm.sh" "$@"; }
pbs() { "$lab_tests/pbs.sh" "$@"; }
on() { timeout --kill-after=5 "${LAB_PATIENCE:-120}" "$lab_tests/lab.sh" exec "$1" -u ddl -- "${@:2}"; }
as_root() { timeout --kill-after=5 "${LAB_PATIENCE:-120}" "$lab_tests/lab.sh" exec "$1" -- "${@:2}"; }

# install_trainer: ddl-train, and its plug-ins for MPI, for the hosts of the lab
install_trainer() {
  install -D -m 755 -t "$lab_home/bin" "$DDLRUN_BUILD_DIR/runtime/ddl-train" &&
    install -D -m 755 -t "$lab_home/lib/ddlrun" "$DDLRUN_BUILD_DIR"/lib/ddlrun/libddl_mpi_*.so
}

lab_up() {
  local status=0
  lab up "$1" > "$work/lab_up" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    cat "$work/lab_up"
    exit "$status"
  fi
  lab_home=$LAB_DIR/home/ddl
  tool=/home/ddl/bin/ddlrun
  if [ -n "${DDLRUN-}" ]; then
    install -D -m 755 "$DDLRUN" "$lab_home/bin/ddlrun"
    chown -R 2000:2000 "$lab_home/bin"
  fi
}

# mpirun for ranks as short as hostname, for which Open MPI 5.0.7 may else wait forever (openpmix/prrte#2713).
mpirun_short=(mpirun --mca odls_base_max_threads 0)

# same TEXT EXPECTED FOUND
same() { [[ $2 == "$3" ]] || fail "$(printf '%s: expected %q, found %q' "$1" "$2" "$3")"; }
