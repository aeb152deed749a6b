#!/bin/bash
# SPDX-License-Identifier: MIT
# simulate.sh BUILD_DIR: libddl's sums on simulated networks, beside MPI_Allreduce as four MPIs choose it (SimGrid's
# selectors) and beside lower bounds; README.md has the model. NETWORKS ("fat-tree dragonfly"), HOSTS ("64 256"; also 1024
# and 4096), GBITS ("100 10"), SIZES ("4 1024 16384 1048576" bytes), WAYS ("best"; also direct, ring, halving and
# gathered), SELECTORS ("ompi mpich mvapich2 impi"), LIMIT (600 s for each simulation), DIMS (those of the racks).
set -eu
build=$(readlink -f "${1:?usage: simulate.sh BUILD_DIR}")
program=$(find "$build/bench/simulation" -name 'simulated_sum.so' | head -1)
command -v smpirun > /dev/null || { echo "skipped: no smpirun (Debian: libsimgrid-dev simgrid)"; exit 125; }
[ -n "$program" ] || { echo "no simulated_sum: cmake --build $build --target simulated_sum" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# The shape of a network: SimGrid's parameters of the topology, and the dims that match its racks.
shape_of() {
  case $1-$2 in
    fat-tree-64) echo 'FAT_TREE 2;8,8;1,8;1,1 1x8x8' ;;
    fat-tree-256) echo 'FAT_TREE 2;16,16;1,16;1,1 1x16x16' ;;
    fat-tree-1024) echo 'FAT_TREE 2;32,32;1,32;1,1 1x32x32' ;;
    fat-tree-4096) echo 'FAT_TREE 2;64,64;1,64;1,1 1x64x64' ;;
    dragonfly-64) echo 'DRAGONFLY 4,4;2,4;4,4;2 1x8x2x4' ;;
    dragonfly-256) echo 'DRAGONFLY 8,4;4,4;4,4;2 1x8x4x8' ;;
    dragonfly-1024) echo 'DRAGONFLY 8,8;4,8;8,8;4 1x32x4x8' ;;
    dragonfly-4096) echo 'DRAGONFLY 16,8;4,8;8,8;8 1x64x4x16' ;;
    *) echo "no network $1 of $2 hosts" >&2; exit 2 ;;
  esac
}

# write_platform TOPOLOGY PARAMETERS HOSTS GBIT
write_platform() {
  cat > "$work/platform.xml" << XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="hosts" prefix="h" suffix="" radical="0-$(($3 - 1))" speed="1Gf" bw="$(($4 * 125))MBps" lat="1us"
             topology="$1" topo_parameters="$2"/>
  </zone>
</platform>
XML
  seq -f 'h%g' 0 "$(($3 - 1))" > "$work/hosts"
}

# simulate HOSTS SELECTOR DIMS BYTES WAYS: lines "BYTES WAY SECONDS ok"; none where it does not end in time.
# A message costs its sender and its receiver 0.5 us each. CM02 with factors of 1 is the bare flow model: SimGrid's
# defaults are fitted to TCP on one cluster of 2008. Only the network takes time.
simulate() {
  timeout "${LIMIT:-600}" smpirun -no-privatize -np "$1" -platform "$work/platform.xml" -hostfile "$work/hosts" \
    --cfg=smpi/coll-selector:"$2" --cfg=network/model:CM02 --cfg=network/crosstraffic:0 \
    --cfg=smpi/os:0:0.5e-6:0 --cfg=smpi/ois:0:0.5e-6:0 --cfg=smpi/or:0:0.5e-6:0 \
    --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1Gf --cfg=contexts/stack-size:256 \
    --log=root.thresh:critical "$program" "$3" "$4" "$5" 2> "$work/errors" | grep -E '^[0-9]+ [a-z]+ [0-9.]+ ' || true
}

# The larger of: ceil(log2 p) messages of 3 us, and 2(p-1)/p of the vector at the wire's rate; in microseconds.
bound_of() {
  awk -v p="$1" -v gbit="$2" -v bytes="$3" 'BEGIN {
    for (steps = 0; 2 ^ steps < p; ) ++steps
    wire = 2 * (p - 1) / p * bytes / (gbit * 125)
    print (3 * steps > wire ? 3 * steps : wire) }'
}

printf '%-10s %6s %5s %9s %-8s %11s %11s %8s %11s %-9s %8s  %s\n' \
  network hosts Gbit bytes way us bound us/bound us selector us/us sums
for network in ${NETWORKS:-fat-tree dragonfly}; do
  for hosts in ${HOSTS:-64 256}; do
    shape=$(shape_of "$network" "$hosts")
    read -r topology parameters dims <<< "$shape"
    for gbit in ${GBITS:-100 10}; do
      write_platform "$topology" "$parameters" "$hosts" "$gbit"
      for bytes in ${SIZES:-4 1024 16384 1048576}; do
        for selector in ${SELECTORS-ompi mpich mvapich2 impi}; do
          simulate "$hosts" "$selector" "${DIMS:-$dims}" "$bytes" mpi | awk -v name="$selector" '$4 != "wrong" { print $3, name }'
        done > "$work/selectors"
        read -r least whose <<< "$(sort -g "$work/selectors" | head -1)"
        bound=$(bound_of "$hosts" "$gbit" "$bytes")
        for way in ${WAYS:-best}; do
          simulate "$hosts" default "${DIMS:-$dims}" "$bytes" "$way" > "$work/way"
          [ -s "$work/way" ] || echo "$bytes $way - not-run" > "$work/way"
          head=$(printf '%-10s %6s %5s' "$network" "$hosts" "$gbit")
          awk -v head="$head" -v bound="$bound" -v least="${least:--}" -v whose="${whose:--}" '
            { us = $3 * 1e6
              ratio = $3 == "-" ? "-" : sprintf("%.2f", us / bound)
              beside = $3 == "-" || least == "-" ? "-" : sprintf("%.2f", $3 / least)
              printf "%s %9s %-8s %11s %11.1f %8s %11s %-9s %8s  %s\n", head, $1, $2, $3 == "-" ? "-" : sprintf("%.1f", us),
                bound, ratio, least == "-" ? "-" : sprintf("%.1f", least * 1e6), whose, beside, $4 }' "$work/way"
        done
      done
    done
  done
done
