#!/bin/bash
# SPDX-License-Identifier: MIT
# On a machine with NVIDIA GPUs: what topo finds by PCI and by CUDA is what nvidia-smi lists, in the same order.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
skip() {
  echo "skipped: $1"
  exit 125
}
command -v nvidia-smi > /dev/null || skip "no nvidia-smi, so no NVIDIA driver"
nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader > "$work/smi" 2> /dev/null || skip "nvidia-smi finds no GPU"
[ -s "$work/smi" ] || skip "nvidia-smi lists no GPU"

# "00000000:0A:00.0" there, "0000:0a:00.0" here; nvidia-smi lists in PCI bus order.
tr 'A-F' 'a-f' < "$work/smi" | sed 's/^0000//' | sort > "$work/want"
expect 0 '"ddlrun.topo/1"' "$DDLRUN" topo --json
sed -n 's/.*"pci_bus_id": *"\([^"]*\)".*/\1/p' "$work/out" | grep -Fxf "$work/want" > "$work/found"
cmp "$work/want" "$work/found" || fail "GPUs differ from nvidia-smi's"
expect 0 '' "$DDLRUN" topo --cuda
[ "$(grep -c 'GPU [0-9]' "$work/out")" -ge "$(wc -l < "$work/want")" ] || fail "CUDA does not show every GPU"
finish
