#!/bin/bash
# SPDX-License-Identifier: MIT
# package_checks.sh DIRECTORY: run by test_packages.sh as root of a clean Debian. DIRECTORY/1 has the packages, DIRECTORY/0 the
# same with a lower version, DIRECTORY/2 with a higher number. Changes the system: never run it elsewhere.
# shellcheck disable=SC2016,SC2317,SC2329 # the words of as_user are for its shell
set -euo pipefail
packages=(ddlrun ddlrun-bench libddl0.1 libddl-dev python3-ddl)
export DEBIAN_FRONTEND=noninteractive
failures=0
check() { # WHAT COMMAND...
  if "${@:2}" > /tmp/check.log 2>&1; then echo "ok: $1"; else failures=$((failures + 1)) && echo "FAILED: $1" && tail -n 5 /tmp/check.log; fi
}
as_user() { runuser -u tester -- env HOME=/home/tester bash -c "cd && $1"; }
files() { find / -xdev \( -path /proc -o -path /sys -o -path /root -o -path /tmp -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg \
  -o -path /var/log -o -path /home \) -prune -o -print | LC_ALL=C sort; }
apt-get update -qq
apt-get install -y -qq --no-install-recommends g++ cmake make pkg-config dpkg-dev openmpi-bin libopenmpi-dev man-db > /dev/null
# What the packages depend on stays: apt removes it when it is asked to.
apt-get install -y -qq --no-install-recommends "$1"/1/*.deb > /dev/null
apt-get purge -y -qq "${packages[@]}" > /dev/null
id -u tester > /dev/null 2>&1 || useradd -m tester
files > /tmp/before
# No package owns the files of a centre: each step leaves them as they are.
configure() {
  install -d /etc/ddlrun/sites
  printf 'site: lab\n' > /etc/ddlrun/config.yaml
  printf 'scheduler: local\ndefaults: {walltime: 7m}\n' > /etc/ddlrun/sites/lab.yaml
  find /etc/ddlrun -type f -exec sha256sum {} + > /tmp/configuration
}
is_configured() { sha256sum --quiet -c /tmp/configuration && as_user 'ddlrun config show --origin | grep -q "walltime: 7m .*/etc/ddlrun/sites/lab.yaml"'; }
check "installs a lower version" apt-get install -y --no-install-recommends "$1"/0/*.deb
configure
check "takes /etc/ddlrun" is_configured
check "upgrades to this version" apt-get install -y --no-install-recommends "$1"/1/*.deb
check "the version is this one" sh -c 'dpkg-query -W ddlrun | grep -q -- -1$'
check "/etc/ddlrun is as before" is_configured
check "ddlrun --version" as_user 'ddlrun --version'
check "topo" as_user 'ddlrun topo'
check "a rankfile that is accepted" as_user 'ddlrun gen-rankfile 1x1x1 $(hostname) > a.rf && ddlrun check-rankfile a.rf'
check "a launch by mpirun, verified" as_user 'ddlrun launch 1 --strict -- true'
check "the trainer, two ranks" as_user 'ddlrun launch 2 --oversubscribe -- --data /usr/share/ddlrun/data/fashion-mnist-subset --epochs 1'
check "ddl-bench" as_user 'ddlrun bench allreduce 2 --oversubscribe -- --help'
check "man pages" as_user 'man -w ddlrun-launch ddl-train ddlrun-config'
check "no dead link in the pages" python3 "$(dirname "$(readlink -f "$0")")/../tests/lint/installed_pages.py" /usr
check "libddl by pkg-config" as_user 'c++ -std=c++20 /usr/share/ddlrun/examples/libddl/sum.cpp -o sum $(pkg-config --cflags --libs ddl) && ./sum'
check "libddl by CMake" as_user 'cmake -S /usr/share/ddlrun/examples/libddl -B b && cmake --build b && b/sum'
# A package of a program that uses libddl depends on libddl0.1 by its shlibs file.
check "dpkg-shlibdeps finds libddl" sh -c 'cd /home/tester && mkdir -p debian && printf "Source: x\n\nPackage: x\nArchitecture: any\n" > debian/control &&
  dpkg-shlibdeps -O ./sum | grep -q "libddl0.1 (>= "'
check "two ranks with MPI's plug-in" as_user 'ddlrun launch 2 --oversubscribe -- ./sum | grep -q "rank 1 of 2"'
five='import array, ddl; c = ddl.init(); x = array.array("d", [c.rank]); c.all_reduce(x, "sum"); print("sum", x[0])'
check "python3-ddl, two ranks" as_user "ddlrun launch 2 --oversubscribe -- python3 -c '$five' | grep -c 'sum 1.0' | grep -qx 2"
check "python3-ddl, as root" python3 -c "$five"
check "upgrades" apt-get install -y --no-install-recommends "$1"/2/*.deb
check "the version is the new one" sh -c 'dpkg-query -W ddlrun | grep -q -- -2$'
check "/etc/ddlrun is as before, again" is_configured
check "is removed" apt-get remove -y "${packages[@]}"
check "is purged" dpkg --purge "${packages[@]}"
check "/etc/ddlrun is left to its owner" sha256sum --quiet -c /tmp/configuration
rm -r /etc/ddlrun
files > /tmp/after
check "nothing is left" diff /tmp/before /tmp/after
exit $((failures > 0))
