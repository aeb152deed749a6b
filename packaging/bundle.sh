#!/bin/bash
# SPDX-License-Identifier: MIT
# bundle.sh [--acceptance] [OUTPUT [BUILD]]: makes OUTPUT (ddlrun-VERSION-linux-ARCH.tar.gz) of a build tree (build/run): one
# directory that runs wherever it is unpacked, without root and network. It contains ddlrun, ddl-train, libddl, their shared libraries and
# the C library of this machine, which only older hosts use (bundle_start.c). It does not contain MPI, the CUDA libraries
# and drivers: those of the host are loaded. The same files give the same archive: names are sorted, times and owners fixed.
# --acceptance: with tests/gpu, what these tests run, and acceptance.sh at the top, for a machine with a GPU and no package of
# ours (tests/gpu/README.md); OUTPUT is then ddlrun-VERSION-acceptance-linux-ARCH.tar.xz. xz compresses a name that ends in .xz.
# Needs patchelf, binutils, a C compiler and, for licence files, dpkg; xz for .xz.
set -euo pipefail
acceptance=''
[ "${1:-}" != --acceptance ] || { acceptance=yes; shift; }
[[ ${1:-} != -* ]] || { echo "usage: $0 [--acceptance] [OUTPUT [BUILD]]" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
build=$(readlink -f "${2:-$here/../build/run}")
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=ddlrun-$version-linux-$(uname -m)
output=$name.tar.gz
[ -z "$acceptance" ] || output=ddlrun-$version-acceptance-linux-$(uname -m).tar.xz
output=$(readlink -m "${1:-$output}")
[ -d "${output%/*}" ] || { echo "no directory ${output%/*}" >&2; exit 3; }
compress=(gzip -n "-${GZIP_LEVEL:-9}")
[[ $output != *.xz ]] || compress=(xz -6 -T 1)
for tool in patchelf readelf strip cc "${compress[0]}"; do
  command -v "$tool" > /dev/null || { echo "bundle.sh needs $tool: apt-get install patchelf binutils gcc libc6-dev xz-utils" >&2; exit 3; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/$name
umask 022

DESTDIR='' cmake --install "$build" --prefix "$tree" --strip > /dev/null
# Debian's CMake installs to lib/TRIPLET only below /usr; plug-ins are in lib/ddlrun everywhere.
mkdir -p "$tree/libexec/ddlrun" "$tree/libexec/glibc" "$tree/lib/ddlrun/bundled" "$tree/share/doc/ddlrun/licenses"
mv "$tree"/bin/* "$tree/libexec/ddlrun"

sources=()
# What tests/gpu reads besides an installed ddlrun, at the places of the source tree.
add_acceptance() {
  local kit=$tree/share/ddlrun/acceptance program module
  mkdir -p "$kit"/{tests/{gpu,support,data},bench,runtime/models/library,python}
  cp "$here"/../tests/gpu/*.{sh,py} "$kit/tests/gpu"
  cp "$here"/../tests/support/{check,share_gpu}.sh "$kit/tests/support"
  cp "$here"/../bench/torch_{speed.sh,peer.py} "$kit/bench"
  cp "$here"/../runtime/models/library/*.yaml "$kit/runtime/models/library"
  ln -s ../../../data/fashion-mnist-subset "$kit/tests/data"
  ln -s share/ddlrun/acceptance/tests/gpu/acceptance.sh "$tree/acceptance.sh"
  for program in gpu_sums_cuda gpu_faults_cuda; do
    [ -e "$build/tests/mpi/$program" ] ||
      { echo "no $build/tests/mpi/$program: the acceptance kit needs a build with DDLRUN_CUDA, DDLRUN_NCCL and DDLRUN_TESTS" >&2; exit 3; }
    strip -o "$tree/libexec/ddlrun/$program" "$build/tests/mpi/$program"
  done
  # A machine with PyTorch need not have PyYAML, by which torch_peer.py reads nets.
  module=$({ /usr/bin/python3 -c 'import yaml; print(yaml.__file__)' || python3 -c 'import yaml; print(yaml.__file__)'; } 2> /dev/null) || return 0
  sources+=("$module")
  mkdir "$kit/python/yaml"
  cp "${module%/*}"/*.py "$kit/python/yaml"
}
[ -z "$acceptance" ] || add_acceptance

elf_files() { find "$tree" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF && echo "$1"' _ {} \; | LC_ALL=C sort; }
needed_by() { readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
# Not in the bundle: MPI and what only MPI loads, CUDA, the C library.
is_hosts() { [[ $1 =~ ^lib(mpi|open-|pmix|cuda|cudart|cublas|cudnn|nccl|nvidia) ]]; }
is_libc() { [[ $1 =~ ^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|nss_.*|anl|mvec))\.so ]]; }

declare -A path_of
# add_libraries FILE: copies what FILE requires, then what those require.
add_libraries() {
  local library name path
  while read -r name path; do path_of[$name]=$path; done < <(ldd "$1" | sed -n 's/^\s*\(\S*\) => \(\/\S*\).*/\1 \2/p')
  for library in $(needed_by "$1"); do
    if is_hosts "$library" || is_libc "$library" || [ -e "$tree/lib/ddlrun/bundled/$library" ]; then continue; fi
    [ -n "${path_of[$library]:-}" ] || { echo "$library, which $1 requires, was not found" >&2; exit 3; }
    sources+=("${path_of[$library]}")
    install -m 644 "${path_of[$library]}" "$tree/lib/ddlrun/bundled/$library"
    add_libraries "${path_of[$library]}"
  done
}
while read -r file; do add_libraries "$file"; done < <(elf_files)

# Each file finds the bundled libraries from where it lies, and no directory of this machine.
# shellcheck disable=SC2016
while read -r file; do
  case ${file#"$tree"/} in
    libexec/*) path='$ORIGIN/../../lib/ddlrun/bundled' ;;
    lib/ddlrun/bundled/*) path='$ORIGIN' ;;
    lib/ddlrun/*) path='$ORIGIN/bundled' ;;
    *) path='$ORIGIN/ddlrun/bundled' ;;
  esac
  patchelf --set-rpath "$path" "$file"
done < <(elf_files)

# The C library, and the newest version of it that any file needs.
loader=$(patchelf --print-interpreter "$tree/libexec/ddlrun/ddlrun")
libc=$(dirname "$(readlink -f "$loader")")
for library in "$loader" "$libc"/lib{c.so.6,m.so.6,dl.so.2,rt.so.1,pthread.so.0,resolv.so.2,util.so.1,mvec.so.1,nss_dns.so.2,nss_files.so.2}; do
  [ -e "$library" ] || continue
  sources+=("$library")
  install -m 755 "$library" "$tree/libexec/glibc/${library##*/}"
done
needed=$(elf_files | grep -v /libexec/glibc/ | xargs readelf -VW | grep -o '\bGLIBC_2\.[0-9.]*' | sort -uV | tail -n 1)
for program in "$tree"/libexec/ddlrun/*; do
  cc -static -Os -s -Wall -Wextra -Werror -DNEEDED_VERSION="\"$needed\"" -DLOADER="\"$loader\"" \
    -o "$tree/bin/${program##*/}" "$here/bundle_start.c"
done

cp "$here/../LICENSE" "$tree/share/doc/ddlrun/"
if command -v dpkg-query > /dev/null; then
  for path in "${sources[@]}"; do
    real=$(readlink -f "$path")
    package=$(dpkg-query -S "$real" "${real#/usr}" "$path" "${path#/usr}" 2> /dev/null | head -n 1 | cut -d: -f1) || true
    [ -z "$package" ] || cp -L "/usr/share/doc/$package/copyright" "$tree/share/doc/ddlrun/licenses/$package"
  done
fi
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2> /dev/null || echo 0)}
chmod -R u=rwX,go=rX "$tree"
tar -C "$work" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu -c "$name" | "${compress[@]}" > "$work/archive"
mv "$work/archive" "$output"
echo "$output: $(stat -c %s "$output") bytes; hosts with ${needed/GLIBC_/glibc } or newer use their own C library"
