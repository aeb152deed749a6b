# SPDX-License-Identifier: MIT
"""A small regression with DistributedDataParallel: each rank has images of its own, and begins with other weights."""
import hashlib
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", init_method="env://")
rank, size = dist.get_rank(), dist.get_world_size()
assert rank == int(os.environ["RANK"]) and size == int(os.environ["WORLD_SIZE"])
assert torch.get_num_threads() == int(os.environ["OMP_NUM_THREADS"])
torch.manual_seed(100 + rank)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)))
inputs = torch.randn(64, 8)
targets = inputs.sum(1, keepdim=True) / 4
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(60):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    dist.all_reduce(loss.detach())
    losses.append(loss.item())
weights = torch.cat([one.detach().flatten() for one in model.parameters()])
digest = hashlib.sha256(weights.numpy().tobytes()).hexdigest()
print(f"rank {rank} of {size} seed {100 + rank} data {float(inputs[0, 0]):.6f} weights {digest}", flush=True)
if rank == 0 and losses[-1] < 0.7 * losses[0]:
    print(f"loss falls from {losses[0]:.4f} to {losses[-1]:.4f}", flush=True)
dist.destroy_process_group()
