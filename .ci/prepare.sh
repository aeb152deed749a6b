# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced by run.sh and test.sh: installs Debian's packages where some are missing, and builds a preset.

say() { printf '\n== %s\n' "$*"; }

build_packages="g++ cmake ninja-build pkg-config libhwloc-dev libfmt-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libsqlite3-dev
  libopenmpi-dev openmpi-bin libdnnl-dev libssl-dev zlib1g-dev"
# The wheel of the Python package.
build_packages+=" python3-setuptools python3-wheel"
# Images: JPEG, PNG, Caffe's LMDB; in tests also the programs and Python modules that read and write them.
build_packages+=" libjpeg-dev libpng-dev liblmdb-dev"
build_packages+=" libprotobuf-dev protobuf-compiler"
data_packages="dataset-fashion-mnist"
test_packages="doctest-dev hwloc-nox shellcheck procps python3 make libomp-dev libgloo-dev"
test_packages+=" python3-protobuf python3-crcmod python3-venv"
# Shells that complete command lines, and the judge of man pages: 8 MB to download, 40 MB installed.
test_packages+=" bash-completion zsh fish mandoc"
# Programs that launch starts in tests.
test_packages+=" python3-mpi4py lammps hpcc"
test_packages+=" python3-lmdb python3-numpy python3-pil python3-protobuf libjpeg-turbo-progs netpbm"
# A second MPI beside Open MPI: mpirun and mpicc stay Open MPI's, which Debian's alternatives prefer.
test_packages+=" mpich libmpich-dev"
# Debian's Lmod and Environment Modules exclude each other: the one that is installed stays.
dpkg-query -W -f='${db:Status-Abbrev}' environment-modules 2>/dev/null | grep -q '^ii' || test_packages+=" lmod"
# Bundles (packaging/bundle.sh).
test_packages+=" patchelf binutils"
# Virtual hosts (tests/cluster): programs that run inside namespaces.
test_packages+=" openssh-client openssh-server iproute2 util-linux nftables faketime
  slurmctld slurmd slurm-client munge slurm-wlm-torque"

# with_spare_cores NICENESS COMMAND...: in a session of its own, to be started with &. Between sessions the kernel weighs
# the niceness of the whole session, where autogroups are on (sched(7)).
with_spare_cores() {
  # shellcheck disable=SC2016
  exec setsid nice -n "$1" bash -c '{ echo "$0" > /proc/self/autogroup; } 2> /dev/null; exec "$@"' "$@"
}

missing_packages() {
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || printf '%s ' "$package"
  done
}

# install_packages PACKAGE...: prints and installs the missing packages. Asks for confirmation only at a terminal.
install_packages() {
  command -v dpkg-query >/dev/null || {
    echo "This is not Debian or Ubuntu. Install by other means: $*" >&2
    exit 3
  }
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  say "to install from Debian's packages: $missing"
  local sudo=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "neither root nor sudo: apt-get install $missing" >&2; exit 3; }
    sudo=sudo
  fi
  if [ -z "${CI:-}" ] && [ -t 0 ]; then
    read -r -p "Go on? [Y/n] " answer
    case $answer in [nN]*) exit 3 ;; esac
  fi
  $sudo apt-get update -qq
  local status=0
  # shellcheck disable=SC2086
  without_services $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >/dev/null || status=$?
  return "$status"
}

# without_services COMMAND...: packages that COMMAND installs start no daemon now (policy-rc.d forbids it) and, with
# systemd, none at the next boot. An existing policy of the administrator is unchanged.
without_services() {
  local policy=/usr/sbin/policy-rc.d made='' status=0 unit known=''
  [ ! -d /run/systemd/system ] || known=$(lab_units)
  if [ ! -e "$policy" ]; then
    made=yes
    trap '$sudo rm -f /usr/sbin/policy-rc.d; exit 130' INT TERM
    printf '#!/bin/sh\nexit 101\n' | $sudo sh -c "cat > $policy && chmod 755 $policy"
  fi
  "$@" || status=$?
  if [ -n "$made" ]; then
    $sudo rm -f "$policy"
    trap - INT TERM
  fi
  if [ -d /run/systemd/system ]; then
    for unit in $(lab_units); do
      [[ " $known " == *" $unit "* ]] || $sudo systemctl disable --quiet "$unit" || true
    done
  fi
  return "$status"
}
# The installed services of the packages for virtual hosts, in one line.
lab_units() {
  for unit in ssh munge slurmd slurmctld nftables; do
    [ ! -e "/lib/systemd/system/$unit.service" ] || printf '%s ' "$unit"
  done
}

# build PRESET [TARGET...]: configures and builds build/PRESET.
build() {
  local preset=$1
  shift
  say "building ($preset)"
  mkdir -p build
  local log=build/configure-$preset.log
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 3; }
  grep -A 6 -E '^-- ddlrun [0-9]' "$log" | sed 's/^-- //' || true
  if [ $# -gt 0 ]; then cmake --build --preset "$preset" --target "$@"; else cmake --build --preset "$preset"; fi |
    awk '/^\[[0-9]+\/[0-9]+\]/ { split($1, part, /[^0-9]+/)
           if (part[2] == part[3] || part[2] % 20 == 0) { print "  " part[2] " of " part[3]; fflush() }
           next }
         { print; fflush() }'
  [ "${PIPESTATUS[0]}" -eq 0 ] || exit 3
}

# mpirun refuses to run as root without these; a container or a bare machine often has no other user.
allow_root() {
  if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}
