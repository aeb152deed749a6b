# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by tests that start one plan by several launchers on 4 hosts (on top of lab_test.sh): what each rank sees is
# compared with the plan.
mapfile -t cpus < <(for core in 0 1; do hwloc-calc --po -I pu "core:$core" 2> /dev/null; done)
[ -n "${cpus[1]-}" ] || { echo "skipped: two cores are needed, and hwloc-calc"; exit 125; }

# build NAME COMPILER [OPTION]: the rank that prints its place; false if the compiler is missing.
build() {
  command -v "$2" > /dev/null || { echo "no $2 here: left out"; return 1; }
  "$2" "${@:3}" -o "$lab_home/bin/$1" "$lab_tests/../support/rank_place.c" 2> "$work/build" || fail "$2: $(tail -n 3 "$work/build")"
}

# 2x2x2 on node1 to node4, two racks of two: rank = x*4 + y*2 + z, hosts rack by rack; local rank x has core x.
plan() {
  local x y z host
  for x in 0 1; do
    for y in 0 1; do
      for z in 0 1; do
        host=$((z * 2 + y + 1))
        echo "$((x * 4 + y * 2 + z)) of 8 (sum 28) on node$host local $x cpus ${cpus[$x]} KEY=s3cret;a b OMP_NUM_THREADS=1 DDLRUN_RANKS=-"
      done
    done
  done
}

# Two ranks on node1, one on node2, two on node3: host by host.
uneven() {
  local rank=0 place
  for place in '1 0' '1 1' '2 0' '3 0' '3 1'; do
    echo "$((rank++)) of 5 (sum 10) on node${place% *} local ${place#* } cpus ${cpus[${place#* }]} KEY=s3cret;a b OMP_NUM_THREADS=1 DDLRUN_RANKS=-"
  done
}

# judge NAME COMMAND...: COMMAND, a launch, leaves the place of each rank, and the places equal $planned.
planned=plan
judge() {
  local name=$1 status=0
  shift
  mkdir -p "$lab_home/$name" && chown 2000:2000 "$lab_home/$name"
  "$@" > "$work/out" 2> "$work/err" || status=$?
  same "$name: status" 0 "$status"
  [ "$status" -eq 0 ] || tail -n 20 "$work/err"
  same "$name: the ranks" "$($planned)" "$(cat "$lab_home/$name"/place.* 2> /dev/null)"
  grep -qE "([58]) of \\1 ranks are where they were planned" "$work/err" || fail "$name: not verified: $(tail -n 3 "$work/err")"
  ! grep -q 's3cret' "$work/err" || fail "$name: a value is shown"
}
