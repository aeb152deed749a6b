#!/bin/bash
# SPDX-License-Identifier: MIT
# packages.sh DEB|RPM [OUTPUT-DIRECTORY [BUILD]]: makes the packages ddlrun, ddlrun-bench, libddl0.1, libddl-dev and (DEB)
# python3-ddl of a build tree (build/run) with CPack, for the distribution of this machine. DEB needs dpkg-dev and file, RPM needs rpm.
# RELEASE=2: the second package of the same version. DEBFULLNAME and DEBEMAIL: the maintainer of the packages.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
kind=${1:-}
output=$(readlink -m "${2:-.}")
build=$(readlink -f "${3:-$here/../build/run}")
case $kind in
  DEB) tools="dpkg-shlibdeps file" packages="dpkg-dev file" ;;
  RPM) tools=rpmbuild packages=rpm ;;
  *) sed -n '3,4s/^# //p' "$0" >&2; exit 2 ;;
esac
for tool in $tools; do
  command -v "$tool" > /dev/null || { echo "packages.sh $kind needs $tool: apt-get install $packages" >&2; exit 3; }
done
mkdir -p "$output"
umask 022
cd "$build"
contact=()
[ -z "${DEBEMAIL:-}" ] || contact=(-D "CPACK_PACKAGE_CONTACT=${DEBFULLNAME:-${DEBEMAIL%@*}} <$DEBEMAIL>")
cpack -G "$kind" -B "$output" -D "CPACK_DEBIAN_PACKAGE_RELEASE=${RELEASE:-1}" -D "CPACK_RPM_PACKAGE_RELEASE=${RELEASE:-1}" "${contact[@]}" \
  > "$output/cpack.log" 2>&1 || { tail -n 20 "$output/cpack.log" >&2; exit 1; }
rm -rf "$output/_CPack_Packages" "$output/cpack.log"
find "$output" -maxdepth 1 -name "*.${kind,,}" -newer "$build/CMakeCache.txt" | LC_ALL=C sort
