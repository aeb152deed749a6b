#!/bin/bash
# SPDX-License-Identifier: MIT
# test_rpm.sh [BUILD]: makes the RPMs of a build tree (build/run), checks what they contain, provide and require, and installs,
# upgrades and removes them in an empty root. Needs root and rpm; rpmlint where it is installed. Dependencies are not resolved:
# their names are those of this machine's libraries. No test runs on a distribution of RPMs.
# shellcheck disable=SC2016,SC2317,SC2329 # check calls the functions; bash -c has words of its own
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
command -v rpmbuild > /dev/null || { echo "skipped: no rpm (apt-get install rpm)"; exit 125; }
build=${1:-$here/../build/run}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
check() { # WHAT COMMAND...
  if "${@:2}" > "$work/log" 2>&1; then echo "ok: $1"; else failures=$((failures + 1)) && echo "FAILED: $1" && tail -n 5 "$work/log"; fi
}
for number in 1 2; do RELEASE=$number "$here/packages.sh" RPM "$work/$number" "$build" > /dev/null; done
package() { echo "$work/1/$1"-[0-9]*.rpm; }
query() { rpm -qp "$@" 2> /dev/null; }
has() { query "$1" "$(package "$2")" | grep -E -- "$3"; }
has_not() { ! has "$@"; }
owns() { query -l "$(package "$1")" | grep -x -- "$2"; }
check "four packages" test "$(find "$work/1" -name '*.rpm' | wc -l)" = 4
check "libddl0.1 provides its SONAME" has --provides libddl0.1 '^libddl\.so\.0\.1\(\)\(64bit\)$'
check "libddl0.1 needs no libfmt and no MPI" has_not --requires libddl0.1 'libfmt|libmpi'
check "libddl0.1 runs ldconfig, installed" has --scripts libddl0.1 '^postinstall'
check "libddl0.1 runs ldconfig, removed" has --scripts libddl0.1 '^postuninstall'
check "ddlrun requires libddl0.1" has --requires ddlrun '^libddl0\.1 >= '
check "libddl-devel requires libddl0.1" has --requires libddl-devel '^libddl0\.1 >= '
check "ddlrun-bench names no MPI" has_not --requires ddlrun-bench 'libmpi'
check "ddlrun has no script" has_not --scripts ddlrun .
check "ddlrun has its page" owns ddlrun /usr/share/man/man1/ddlrun.1.gz
check "ddlrun-bench has its page" owns ddlrun-bench /usr/share/man/man1/ddl-bench.1.gz
for directory in /usr/share/man/man1 /usr/share/bash-completion/completions /usr/share/zsh/site-functions; do
  check "ddlrun leaves $directory to others" bash -c '! rpm -qpl "$1" 2> /dev/null | grep -qx -- "$2"' _ "$(package ddlrun)" "$directory"
done
in_root() { rpm --root "$work/root" --nodeps --noscripts --nosignature "$@"; }
mkdir -p "$work/root/etc/ddlrun"
echo 'queue: lab' > "$work/root/etc/ddlrun/config.yaml"
check "installs" in_root -i "$work"/1/*.rpm
check "is whole" in_root -V ddlrun ddlrun-bench libddl0.1 libddl-devel
check "upgrades" in_root -U "$work"/2/*.rpm
check "/etc/ddlrun is as before" grep -qx 'queue: lab' "$work/root/etc/ddlrun/config.yaml"
check "is removed" in_root -e ddlrun ddlrun-bench libddl0.1 libddl-devel
# The configuration of this machine's rpm sets the directory of its database.
find "$work/root" -mindepth 1 ! -type d ! -path '*rpm*' ! -path "$work/root/etc/ddlrun/config.yaml" > "$work/left"
check "no file is left" bash -c 'cat "$1"; test ! -s "$1"' _ "$work/left"
if command -v rpmlint > /dev/null; then
  # A publisher adds a URL, a packager and a signature. An example is a Python script. Plug-ins have no version in
  # their names. libddl0.1 is Debian's form of a name, not SUSE's. The rest follows from Debian's settings of CMake and rpm.
  rpmlint "$work"/1/*.rpm 2>&1 | grep ': E: ' |
    grep -vE 'no-(signature|packager-tag|pkg-config-provides)|env-script-interpreter|missing-hash-section|libddl-devel.* no-binary' |
    grep -vE 'non-versioned-file-in-library-package|shared-library-not-executable|shlib-policy-name-error' > "$work/rpmlint" || true
  check "rpmlint" bash -c 'cat "$1"; test ! -s "$1"' _ "$work/rpmlint"
else
  echo 'skipped: no rpmlint (apt-get install rpmlint)'
fi
exit $((failures > 0))
