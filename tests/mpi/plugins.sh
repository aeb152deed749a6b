#!/bin/bash
# SPDX-License-Identifier: MIT
# One ddl-train for every MPI: it links none, takes the one of its launcher, trains to the same weights under each, needs
# none for a single rank or over TCP, and reports a missing or wrong one.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
plugins=$(dirname "$train")/../lib/ddlrun
own_mpi=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/own_mpi}
training=("$train" --data "$subset" --global-batch 40 --max-steps 20 --quiet)
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*/\1/p' "$work/out"; }
same_weights() {
  expect 0 '' "$@"
  [ -n "$(hash_of)" ] && [ "$(hash_of)" = "$want" ] || fail "weights $(hash_of), not $want: $*"
}

for file in "$train" "$DDLRUN_BUILD_DIR/ddl/libddl.so" "$plugins"/libddl_mpi_*.so; do
  ! readelf -d "$file" | grep 'NEEDED.*libmpi' || fail "$file requires one MPI"
done
expect 0 'ranks=2' ranks 2 "${training[@]}"
want=$(hash_of)

# MPICH's launcher, also with parameter servers, whose messages are point to point.
if [ -e "$plugins/libddl_mpi_mpich.so" ] && command -v mpiexec.mpich > /dev/null; then
  mpich() { timeout 120 mpiexec.mpich -n "$@"; }
  same_weights mpich 2 "${training[@]}"
  servers=(--parameter-servers 1)
  expect 0 'ranks=3' ranks 3 "${training[@]}" "${servers[@]}"
  want_servers=$(hash_of)
  expect 0 'ranks=3' mpich 3 "${training[@]}" "${servers[@]}"
  [ "$(hash_of)" = "$want_servers" ] || fail "weights $(hash_of) under MPICH, $want_servers under Open MPI"
  # A launcher that counts this machine as two hosts: the ranks share no memory, exchange over the network, and all end, where
  # MPI_Finalize of MPICH 4.0.2 waits forever now and then.
  hosts=(timeout 60 mpiexec.mpich -launcher fork -hosts localhost,127.0.0.1 -ppn 1 -n 2 "${training[@]}")
  for _ in {1..10}; do expect 0 'ranks=2' "${hosts[@]}"; done
  grep -q "libddl: note: not all ranks of $(hostname) share memory" "$work/err" || fail "no note: $(cat "$work/err")"
  expect_refusal 2 "dims 2x1 are 1 host of 2 ranks, the job has 2 of 1" env DDL_OPTIONS='-mode b:2x1' "${hosts[@]}"
  # The MPI of the process comes first: under another's launcher it finds one rank.
  wrong='the launcher started 2 ranks, and MPI finds 1'
  expect_refusal 3 "$wrong" ranks 2 env LD_PRELOAD=libmpich.so.12 "${training[@]}"
  grep -q 'at:  MPICH Version' "$work/err" || fail "not which MPI: $(cat "$work/err")"
  # The same where the program has started MPI.
  expect_refusal 1 "$wrong" mpich 2 "$own_mpi"
  mkdir -p "$work/bin" "$work/lib/ddlrun"
  cp "$train" "$work/bin"
  cp "$plugins/libddl_mpi_openmpi.so" "$work/lib/ddlrun"
  expect_refusal 3 "$wrong" mpich 2 "$work/bin/ddl-train" "${training[@]:1}"
  rm "$work/lib/ddlrun/libddl_mpi_openmpi.so"
  expect_refusal 3 "ranks of this launcher need libddl's plug-in libddl_mpi_openmpi.so, which is not installed" \
    ranks 2 "$work/bin/ddl-train" "${training[@]:1}"
else
  echo 'without the part on MPICH: no mpiexec.mpich, or built without its headers'
fi

# Without any MPI: the directory of libmpi, less libmpi, in a mount namespace.
directory=$(dirname "$(ldconfig -p | sed -n 's/.*libmpi\.so\.40.* => //p' | head -n 1)")
mkdir "$work/all" "$work/less"
without_mpi() {
  unshare --mount --map-root-user bash -c 'mount --bind "$1" "$2" && mount -t tmpfs none "$3" || exit 99
    shopt -s extglob
    ln -s "$2"/!(libmpi*) "$3" && mount --bind "$3" "$1" && shift 3 && exec "$@"' without "$directory" "$work/all" "$work/less" "$@"
}
run without_mpi true
if [ "$status" -eq 0 ]; then
  expect 0 '' without_mpi env LD_DEBUG=libs "${training[@]}"
  ! grep -q libmpi "$work/err" || fail "a single rank looks for MPI: $(grep -m 1 libmpi "$work/err")"
  expect_refusal 3 'no MPI library for these ranks: libmpi.so.40: cannot open shared object file' \
    without_mpi env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "${training[@]}"
  (umask 077 && head -c 32 /dev/urandom | base64 > "$work/token")
  over_tcp() {
    without_mpi env DDL_RANK="$1" DDL_SIZE=2 DDL_MASTER="127.0.0.1:$port" DDL_TOKEN_FILE="$work/token" \
      LD_DEBUG=libs "${training[@]}"
  }
  port=$((20000 + RANDOM % 8000))
  over_tcp 1 > /dev/null 2> "$work/other" &
  same_weights over_tcp 0
  wait $!
  ! grep -q libmpi "$work/err" "$work/other" || fail 'ranks over TCP look for MPI'
else
  echo "without the part on a machine without MPI: no mount namespace: $(head -n 1 "$work/err")"
fi
finish
