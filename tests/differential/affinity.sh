#!/bin/bash
# SPDX-License-Identifier: MIT
# Where real OpenMP runtimes put threads on machines that are not here: the model of affinity/thread_map, and the
# variables that ddlrun sets for planned ranks. `affinity.sh maps` or `affinity.sh plans`. DDLRUN_THREAD_MAPS=0
# compares the whole grid of settings (a minute).
set -u
here=$(dirname "$(readlink -f "$0")")
build=$DDLRUN_BUILD_DIR/tests/differential
shopt -s nullglob
libomp=''
for file in /usr/lib/llvm-*/lib/libomp.so.5 /usr/lib/*/libomp.so.5 /usr/lib/libomp.so.5; do
  libomp=$file
  break
done
[ -n "$libomp" ] || { echo "skipped: no libomp.so.5 (apt-get install libomp-dev)"; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
# LLVM's runtime has GNU's entry points too: one object, two programs.
cc=${CC:-gcc}
{
  "$cc" -O1 -fopenmp -c "$here/affinity/places.c" -o "$work/places.o" &&
    "$cc" "$work/places.o" -fopenmp -o "$work/places_libgomp" &&
    "$cc" "$work/places.o" "$libomp" -lpthread -o "$work/places_libomp"
} 2> "$work/log" || { echo "skipped: $cc cannot build an OpenMP program: $(head -1 "$work/log")"; exit 125; }
"$build/thread_$1" "$build/libpretend_machine.so" "$work/places_libgomp" "$work/places_libomp"
