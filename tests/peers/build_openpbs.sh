#!/bin/bash
# SPDX-License-Identifier: MIT
# build_openpbs.sh [SOURCE [PREFIX]]: builds OpenPBS 23.06.06 for tests/cluster/pbs.sh, which runs it on virtual hosts, and
# prints PREFIX. SOURCE is the directory of its source or a git repository (default: https://github.com/openpbs/openpbs).
# PREFIX (default $DDLRUN_OPENPBS, or /var/tmp/ddlrun-openpbs-UID) must not lie below /tmp, /home, /run or /root, which virtual
# hosts have of their own. Two programs become set-user-ID root, so it needs root. Status 125: no source, or the build fails.
set -u
tag=v23.06.06
packages="autoconf automake libtool pkg-config g++ make bison flex swig libhwloc-dev libx11-dev libxt-dev libedit-dev \
libical-dev libncurses-dev libexpat1-dev libssl-dev libcjson-dev libpq-dev postgresql postgresql-contrib \
postgresql-server-dev-all python3-dev tcl-dev tk-dev zlib1g-dev"
source=${1:-https://github.com/openpbs/openpbs}
prefix=${2:-${DDLRUN_OPENPBS:-/var/tmp/ddlrun-openpbs-$(id -u)}}
skip() {
  echo "skipped: $1"
  exit 125
}
case $prefix/ in
  /tmp/* | /home/* | /run/* | /root/*) sed -n '3,6s/^# //p' "$0" >&2; exit 2 ;;
esac
# Root runs what is there: in /var/tmp another user may have been first.
own() { [ ! -L "$prefix" ] && [ -O "$prefix" ]; }
[ ! -e "$prefix" ] || own || { echo "$prefix belongs to another user, or is a link" >&2; exit 3; }
if [ ! -e "$prefix/installed" ]; then
  [ "$(id -u)" -eq 0 ] || skip "pbs_iff and pbs_rcp become set-user-ID root: build_openpbs.sh needs root"
  mkdir -p "$prefix" && own && chmod 755 "$prefix" || exit 1
  tree=$(mktemp -d)
  trap 'rm -rf -- "$tree"' EXIT
  if [ -x "$source/autogen.sh" ]; then
    cp -R "$source/." "$tree"
  else
    git clone --quiet --depth 1 --branch "$tag" "$source" "$tree" 2> "$prefix/build.log" ||
      skip "no source of OpenPBS: build_openpbs.sh DIRECTORY ($(tail -n 1 "$prefix/build.log"))"
  fi
  # Its Makefiles take python, postgres and swig from the PATH: Debian's, which its Python library is linked with.
  # sysprofiledir and unitfiledir lie outside of its prefix (src/cmds/scripts/Makefile.am), in this machine's /etc.
  # Python 3.11 has no eval.h (OpenPBS's own change 1d17427c0, after the release).
  {
    cd "$tree" && export PATH=/usr/bin:/bin:/usr/sbin:/sbin && sed -i 's/<eval.h>/<Python.h>/' src/lib/Libpython/pbs_python_external.c &&
      ./autogen.sh &&
      CFLAGS="-O1 -w -fcommon" ./configure --prefix="$prefix" --with-python=/usr --with-pbs-server-home=/var/spool/pbs &&
      make -j "${JOBS:-$(nproc)}" &&
      make install sysprofiledir="$prefix/etc/profile.d" unitfiledir="$prefix/etc/systemd" &&
      chown -h root: "$prefix"/sbin/pbs_{iff,rcp} && chmod 4755 "$prefix"/sbin/pbs_{iff,rcp} && touch "$prefix/installed"
  } > "$prefix/build.log" 2>&1 ||
    skip "OpenPBS cannot be built (log: $prefix/build.log): $(grep -m 1 -i error: "$prefix/build.log"); apt-get install $packages"
fi
echo "$prefix"
