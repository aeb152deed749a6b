# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="srun torchrun" library=torch place=slurm
type_command() {
  words=(srun -N 2 "${wanted[@]}" --cpus-per-task 2 torchrun --nnodes 2 --nproc-per-node 2
    --rdzv-backend c10d --rdzv-endpoint node1:29500)
  [ "${program[0]}" = ./stamp.sh ] && words+=(--no-python)
  words+=("${program[-1]}")
}
