# SPDX-License-Identifier: MIT
"""Rank 1 raises in the middle of a training with the hook: the error of the other rank's backward() names it."""
import os
import time

import torch
from torch.nn.parallel import DistributedDataParallel

import ddl
import ddl.torch

place = ddl.launch.place()
torch.distributed.init_process_group("gloo", init_method="file://" + os.environ["MEETING"], rank=place.rank, world_size=place.size)
model = DistributedDataParallel(torch.nn.Linear(4, 4))
model.register_comm_hook(None, ddl.torch.allreduce_hook)
for step in range(3):
    if step == 2 and place.rank == 1:
        raise ValueError("a fault of the program")
    begun = time.monotonic()
    try:
        model(torch.ones(2, 4)).sum().backward()
    except RuntimeError as error:
        print(f"after {'a moment' if time.monotonic() - begun < 5 else 'long'}: {error}", flush=True)
        raise SystemExit(7) from None
