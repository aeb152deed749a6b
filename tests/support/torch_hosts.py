# SPDX-License-Identifier: MIT
"""DistributedDataParallel on several hosts: torch_hosts.py DIRECTORY [--alone]. Each rank trains on its rows of one batch and
writes DIRECTORY/RANK.json: its environment, place, curve and weights. --alone: one process, no torch.distributed, all rows."""
import json
import os
import socket
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

alone = "--alone" in sys.argv
if not alone:
    assert not dist.is_mpi_available(), "this PyTorch could ask MPI"
    dist.init_process_group("gloo", init_method="env://")
rank, size = (0, 1) if alone else (dist.get_rank(), dist.get_world_size())
if not alone:
    # Groups as torch.distributed.new_subgroups() makes them, which itself wants CUDA: neighbouring ranks are a host's.
    local = int(os.environ["LOCAL_WORLD_SIZE"])
    groups = [dist.new_group(range(first, first + local)) for first in range(0, size, local)]
    hosts = [None] * local
    dist.all_gather_object(hosts, socket.gethostname(), group=groups[rank // local])
    if len(set(hosts)) != 1:
        print(f"rank {rank}: neighbouring ranks are on {hosts}: ranks are not node-contiguous", file=sys.stderr, flush=True)
        os._exit(1)  # past the end of Gloo's threads, which now and then aborts
torch.manual_seed(100 + rank)  # each begins elsewhere; DistributedDataParallel hands out rank 0's weights
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
model = net if alone else DistributedDataParallel(net)
rows = torch.randn(64, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(7))
inputs = rows[rank::size]
targets = inputs.sin().sum(1, keepdim=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
curve = []
for step in range(40):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    whole = loss.detach().clone()
    if not alone:
        dist.all_reduce(whole)
    curve.append(whole.item() / size)
with open(f"{sys.argv[1]}/{rank}.json", "w") as file:
    json.dump({
        "rank": rank,
        "size": size,
        "host": socket.gethostname(),
        "pus": sorted(os.sched_getaffinity(0)),
        "threads": torch.get_num_threads(),
        "environment": dict(os.environ),
        "rows": inputs[:, 0].tolist(),
        "curve": curve,
        "weights": torch.cat([one.detach().flatten() for one in net.parameters()]).tolist(),
    }, file)
if not alone:
    dist.barrier()
    dist.destroy_process_group()
