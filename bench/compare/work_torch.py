# SPDX-License-Identifier: MIT
"""The job by torch.distributed with Gloo."""
import torch.distributed as dist
import work


def least(value):
    dist.all_reduce(value, op=dist.ReduceOp.MIN)
    return value


if not dist.is_initialized():  # torchrun-hpc has done it
    dist.init_process_group("gloo")
work.run(dist.get_rank(), dist.get_world_size(), least)
dist.destroy_process_group()
