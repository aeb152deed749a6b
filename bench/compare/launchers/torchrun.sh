# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# The same line is typed on both hosts. A wrong host name can only be that of the rendezvous.
title="torchrun" library=torch place=hosts typed_on="node1 node2"
version() { echo "PyTorch $("$torch/bin/python" -c 'import torch; print(torch.__version__)')"; }
type_command() {
  local meeting=node1
  [ "$second" = node2 ] || meeting=$second
  words=(torchrun --nnodes 2 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint "$meeting:29500")
  [ "${program[0]}" = ./stamp.sh ] && words+=(--no-python)
  words+=("${program[-1]}")
}
