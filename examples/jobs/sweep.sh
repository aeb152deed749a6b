#!/bin/bash
# SPDX-License-Identifier: MIT
# One rank of task DDLRUN_ARRAY_INDEX of slurm_array.yaml.
rates=(0.001 0.003 0.01 0.03 0.1 0.3)
exec python3 ../pytorch/train_ddp.py --epochs 5 --lr "${rates[$DDLRUN_ARRAY_INDEX]}"
