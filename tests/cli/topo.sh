#!/bin/bash
# SPDX-License-Identifier: MIT
# topo as users run it: every machine file as text, JSON, XML and picture; hwloc's own tools as the judge.
# DDLRUN_WRITE_GOLDEN=1 writes tests/golden/topo/ anew.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/topo
cd "$DDLRUN_SOURCE_DIR/tests/data/topologies" || exit 1

# The text is a golden; JSON read again is the same; XML read again gives the same machine.
for file in *.xml; do
  name=${file%.xml}
  expect 0 '' "$DDLRUN" topo --topology "$file"
  [ ! -s "$work/err" ] || fail "talk on stderr for $file"
  [ -z "${DDLRUN_WRITE_GOLDEN-}" ] || cp "$work/out" "$golden/$name.txt"
  diff -u "$golden/$name.txt" "$work/out" || fail "$name differs"
  "$DDLRUN" topo --topology "$file" --json > "$work/machine"
  "$DDLRUN" topo --topology "$work/machine" --json > "$work/again"
  diff <(grep -v '"source"' "$work/machine") <(grep -v '"source"' "$work/again") || fail "$name: JSON differs"
  "$DDLRUN" topo --topology "$file" --xml > "$work/again.xml"
  "$DDLRUN" topo --topology "$work/again.xml" --json > "$work/again"
  diff <(grep -v '"source"' "$work/machine") <(grep -v '"source"' "$work/again") || fail "$name: XML differs"
done

# What hwloc's own tools say about the same files: cores, hardware threads, and the NUMA node below each GPU.
if command -v hwloc-calc > /dev/null; then
  for file in *.xml; do
    "$DDLRUN" topo --topology "$file" --json > "$work/json"
    [ "$(hwloc-calc -i "$file" -N pu all)" = "$(grep -o '"pus":\[[^]]*' "$work/json" | cut -d[ -f2 | tr , "\n" | wc -l)" ] ||
      fail "$file: hwloc-calc counts other threads"
    cores=$(hwloc-calc -i "$file" -N core all 2> /dev/null)
    [ -z "$cores" ] || [ "$cores" = -1 ] || [ "$cores" = "$(grep -c '"index_in_package"' "$work/json")" ] ||
      fail "$file: hwloc-calc counts other cores"
    while IFS=' ' read -r pci node; do
      near=$(hwloc-calc -i "$file" "pci=$pci" -I numanode 2> /dev/null)
      [ "$node" -lt 0 ] || [ "$near" = "$node" ] || fail "$file: GPU $pci is on NUMA node $near, not $node"
      [ "$node" -ge 0 ] || [[ $near != [0-9] ]] || fail "$file: GPU $pci has NUMA node $near"
    done < <(sed -n 's/.*"pci_bus_id":"\([^"]*\)","uuid":"[^"]*","numa_node":\([-0-9]*\).*/\1 \2/p' "$work/json")
  done
fi

# Pictures: whole XML, drawable, with every rank in the legend.
for file in *.xml; do
  expect 0 '' "$DDLRUN" topo --topology "$file" --svg "$work/picture.svg"
  [ ! -s "$work/out" ] || fail "stdout is not empty with --svg FILE"
  if command -v rsvg-convert > /dev/null; then
    rsvg-convert "$work/picture.svg" -o "$work/picture.png" || fail "$file: the picture cannot be drawn"
  fi
done
expect 0 '>rank 18: cores 15-19, GPU 3<' "$DDLRUN" topo --topology power_2pkg_10core_smt8_4gpu_bmc.xml --ranks 4x2x3 --svg -
expect 0 'slot=1:5-9' "$DDLRUN" topo --topology power_2pkg_10core_smt8_4gpu_bmc.xml --ranks 4
expect 3 'no/such/directory' "$DDLRUN" topo --sockets 1 --cores 1 --svg no/such/directory/m.svg

# Other sources.
expect 0 '20 cores x 8 threads in 2 packages' "$DDLRUN" topo --sockets 2 --cores 10 --smt 8
expect 0 '20 cores x 8 threads in 2 packages' "$DDLRUN" topo --synthetic 'pack:2 core:10 pu:8'
expect 0 'in 2 packages' "$DDLRUN" topo --topology <(cat x86_2pkg_4core_smt2_2gpu_one_package.xml)
expect 0 '"source": "this host"' "$DDLRUN" topo --json
expect 0 'pack:2 [numa] core:10 pu:1' "$DDLRUN" topo --sockets 2 --cores 10 --xml
expect 0 '4 cores x 1 thread in 2 packages' env HWLOC_SYNTHETIC='pack:2 core:2 pu:1' "$DDLRUN" topo

# Refusals.
printf 'PACKAGES\n' > "$work/text"
printf '<topology version="2.0"><object type="Machine"' > "$work/cut.xml"
printf '{"schema": "ddlrun.topo/9"}' > "$work/later.json"
: > "$work/empty"
expect_refusal 3 'No such file' "$DDLRUN" topo --topology "$work/none.xml"
expect_refusal 3 'the file is empty' "$DDLRUN" topo --topology "$work/empty"
expect_refusal 3 'neither hwloc XML nor a saved machine' "$DDLRUN" topo --topology "$work/text"
expect_refusal 3 '' "$DDLRUN" topo --topology "$work/cut.xml"
expect_refusal 3 "only 'ddlrun.topo/1' is known" "$DDLRUN" topo --topology "$work/later.json"
expect_refusal 3 'larger than 16777216 bytes' "$DDLRUN" topo --topology /dev/zero
expect_refusal 3 'does not understand' "$DDLRUN" topo --synthetic 'pack:2 nonsense:1'
expect_refusal 3 '1000000000000 hardware threads' "$DDLRUN" topo --synthetic 'pack:10000 core:10000 pu:10000'
expect_refusal 2 "topo shows the machine on which it runs" "$DDLRUN" topo h1
grep -qF 'try: ssh h1 ddlrun topo' "$work/err" || fail "no line for another host: $(cat "$work/err")"
expect_refusal 2 '--sockets needs --cores' "$DDLRUN" topo --sockets 2
expect_refusal 2 '--cores must be a whole number from 1 to 4096' "$DDLRUN" topo --sockets 2 --cores 1e3
expect_refusal 2 'each name a machine: use one' "$DDLRUN" topo --synthetic pack:2 --sockets 2 --cores 2
expect_refusal 2 'both write to stdout: use one' "$DDLRUN" topo --json --xml
expect_refusal 2 'not the standard input' "$DDLRUN" topo --topology -
expect_refusal 2 'of this host' "$DDLRUN" topo --cuda --sockets 2 --cores 2

# CUDA: only where the plug-in and a driver are; else its own words, never a crash.
run "$DDLRUN" topo --cuda
if [ "$status" -ne 0 ]; then expect_refusal 3 'CUDA' "$DDLRUN" topo --cuda; fi
ldd "$DDLRUN" | grep -iE 'cuda|nccl' && fail "ddlrun is linked to CUDA"
finish
