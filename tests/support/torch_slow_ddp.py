# SPDX-License-Identifier: MIT
"""torch_slow_ddp.py LINES SECONDS: 8 small steps with DistributedDataParallel, then a second of sleep, again and again.

LINES: yes: rank 0 prints one line a second; no: none.
"""
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

lines, seconds = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", init_method="env://")
model = DistributedDataParallel(torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for second in range(seconds):
    for _ in range(8):
        optimizer.zero_grad()
        loss = model(torch.ones(32, 16)).square().mean()
        loss.backward()
        optimizer.step()
    if lines == "yes" and dist.get_rank() == 0:
        print(f"second {second} loss {loss.item():.6f}", flush=True)
    time.sleep(1)
dist.destroy_process_group()
