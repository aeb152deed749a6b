#!/bin/bash
# SPDX-License-Identifier: MIT
# bundle_checks.sh ARCHIVE: unpacks a bundle in a directory of its own and runs what a user would: topo, rankfiles, diagnose,
# the trainer on one rank, over TCP and by each launcher here (Open MPI, MPICH, ssh), and the same with the bundle's own C
# library. All weights of two ranks must be equal. Exit status 1: not as expected.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../tests/support/check.sh"
archive=$(readlink -f "${1:?usage: $0 ARCHIVE}")
mkdir "$work/any place"
tar -xf "$archive" -C "$work/any place" || exit 3
prefix=$(echo "$work/any place"/ddlrun-*)
ddlrun=$prefix/bin/ddlrun
trainer=$prefix/bin/ddl-train
subset=$prefix/share/ddlrun/data/fashion-mnist-subset
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 HOME=$work
training=(--data "$subset" --global-batch 40 --max-steps 20 --quiet)
want=''
same_weights() {
  expect 0 'ranks=2' "$@"
  local hash
  hash=$(sed -n 's/.* hash=\([0-9a-f]*\).*/\1/p' "$work/out")
  : "${want:=$hash}"
  [[ -n $hash && $hash = "$want" ]] || fail "weights '$hash', not '$want': $*: $(head -n 5 "$work/err")"
}
over_tcp() {
  (umask 077 && head -c 32 /dev/urandom | base64 > "$work/token")
  export DDL_SIZE=2 DDL_MASTER=127.0.0.1:$((20000 + RANDOM % 8000)) DDL_TOKEN_FILE=$work/token
  DDL_RANK=1 "$trainer" "${training[@]}" > /dev/null 2>&1 &
  DDL_RANK=0 same_weights "$trainer" "${training[@]}"
  wait $! || fail 'rank 1 over TCP failed'
  unset DDL_SIZE DDL_MASTER DDL_TOKEN_FILE
}
cat > "$work/job.log" << 'LOG'
[h2:04711] *** Process received signal ***
[h2:04711] Signal: Segmentation fault (11)
mpirun noticed that process rank 1 with PID 4711 on node h2 exited on signal 11 (Segmentation fault).
LOG

checks() {
  expect 0 'ddlrun 0.' "$ddlrun" --version
  expect 0 'core' "$ddlrun" topo
  expect 0 'rank 0=' "$ddlrun" gen-rankfile 1x1 localhost
  cp "$work/out" "$work/rankfile"
  expect 0 '' "$ddlrun" check-rankfile "$work/rankfile"
  expect 1 'rank 1' "$ddlrun" diagnose "$work/job.log"
  expect 0 'ranks=1' "$trainer" "${training[@]}"
  # Debian's own data set comes first where it is installed.
  [ -e /usr/share/datasets/fashion-mnist ] || expect 0 'the 1,000-image subset' "$trainer" --max-steps 2 --global-batch 40
  over_tcp
  # shellcheck disable=SC2016
  # Each rank, and a host's daemon, is started by the path of bin/ddlrun.
  expect 0 'rank 1 of 2' "$ddlrun" launch --launcher ssh 2 -- sh -c 'echo "rank $RANK of $WORLD_SIZE"'
  # Without MPI each rank of the trainer would be rank 0 of 1.
  expect_refusal 3 'need a token: --launcher ssh starts them without MPI' "$ddlrun" launch --launcher ssh 2 -- "$trainer" "${training[@]}"
  # The host's MPI needs a C library that is as new as the host's.
  [ -z "${DDLRUN_BUNDLED_LIBC:-}" ] || [ -z "$host_is_newer" ] || return
  local launcher
  for launcher in openmpi:mpirun.openmpi mpich:mpiexec.mpich; do
    command -v "${launcher#*:}" > /dev/null || continue
    same_weights "$ddlrun" launch --launcher "${launcher%:*}" --mpirun "$(command -v "${launcher#*:}")" 2 -- "${training[@]}"
    echo "  ${launcher%:*}: $("${launcher#*:}" --version 2>&1 | grep -m 1 -E 'Open ?(MPI|RTE)|Version:' | tr -s ' ')"
  done
}
host=$(getconf GNU_LIBC_VERSION)
loader=$(echo "$prefix"/libexec/glibc/ld-linux-*)
bundled=$("$loader" --version | sed -n '1s/.* \([0-9.]*\)\.$/\1/p')
host_is_newer=yes
[ "$(printf "%s\n" "${host#* }" "$bundled" | sort -V | tail -n 1)" != "$bundled" ] || host_is_newer=''
begun=$SECONDS
checks
echo "  $(du -sh "$prefix" | cut -f 1) unpacked, checks in $((SECONDS - begun)) s"
begun=$SECONDS
export DDLRUN_BUNDLED_LIBC=1
expect 0 "=> $prefix/libexec/glibc/libc.so.6" env LD_TRACE_LOADED_OBJECTS=1 "$ddlrun"
checks
echo "  with the bundle's C library ($bundled) in $((SECONDS - begun)) s; this host has $host"
finish
