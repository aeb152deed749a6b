#!/bin/bash
# SPDX-License-Identifier: MIT
# On a machine with NVIDIA GPUs: what doctor learns from the driver's library is what nvidia-smi says, and each GPU
# computes.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
skip() {
  echo "skipped: $1"
  exit 125
}
command -v nvidia-smi > /dev/null || skip "no nvidia-smi, so no NVIDIA driver"
gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader 2> /dev/null) || skip "nvidia-smi finds no GPU"
[ -n "$gpus" ] || skip "nvidia-smi lists no GPU"

facts=$work/facts.json
run "$DDLRUN" doctor --only GPU-01 --baseline save --baseline-file "$facts"
[ -s "$facts" ] || fail "no facts were kept: $(head -3 "$work/err")"

small() { tr '[:upper:]' '[:lower:]'; }
# fact NAME: its value, "" where it is not known
fact() { grep -o "\"$1\": *\"[^\"]*\"" "$facts" | head -1 | cut -d'"' -f4; }
# smi FIELD GPU: nvidia-smi's own answer
smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits -i "$2" 2> /dev/null | small | sed 's/^ *//;s/ *$//'; }
# same FACT FIELD GPU [SED]: they agree, where nvidia-smi has an answer
same() {
  local ours theirs
  ours=$(fact "nvml.$3.$1" | small)
  theirs=$(smi "$2" "$3" | sed "${4:-}")
  case $theirs in *n/a* | *"not supported"* | *"not a valid"* | '') return ;; esac
  compared=$((compared + 1))
  [ "$ours" = "$theirs" ] || fail "nvml.$3.$1 is '$ours', nvidia-smi's $2 '$theirs'"
}

compared=0
[ "$(fact nvml.status)" = ok ] || fail "the driver's library reported nothing"
[ "$(fact nvml.count)" = "$(printf '%s\n' "$gpus" | wc -l)" ] || fail "nvml.count is $(fact nvml.count)"
[ "$(fact nvml.driver)" = "$(smi driver_version 0)" ] || fail "nvml.driver is $(fact nvml.driver)"
for gpu in $gpus; do
  same pci pci.bus_id "$gpu" 's/^0000//'
  same name name "$gpu"
  same vbios vbios_version "$gpu"
  same persistence persistence_mode "$gpu" 's/enabled/yes/;s/disabled/no/'
  same compute_mode compute_mode "$gpu" 's/exclusive_process/exclusive/'
  same mig mig.mode.current "$gpu" 's/enabled/yes/;s/disabled/no/'
  same ecc.uncorrected ecc.errors.uncorrected.volatile.total "$gpu"
  same link.max_width pcie.link.width.max "$gpu"
  same link.max_generation pcie.link.gen.max "$gpu"
  memory=$(fact "nvml.$gpu.memory")
  [ "$((${memory:-0} >> 20))" = "$(smi memory.total "$gpu")" ] || fail "memory of GPU $gpu is '$memory' bytes"
done
[ "$compared" -ge 5 ] || fail "only $compared values could be compared"

expect 0 'each GPU: right' "$DDLRUN" doctor --full --only GPU-16 --all
finish
