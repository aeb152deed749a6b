# SPDX-License-Identifier: MIT
"""torch_hook.py NET WIDTH BATCH STEPS ROUNDS: see torch_hook.sh. Rank 0 prints a line for each way and the ratios to Gloo."""
import os
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import ddl
import ddl.torch

net = sys.argv[1]
width, batch, steps, rounds = (int(word) for word in sys.argv[2:])
place = ddl.launch.place()
torch.distributed.init_process_group("gloo", init_method="file://" + os.environ["MEETING"], rank=place.rank, world_size=place.size)
context = ddl.init()
torch.set_num_threads(1)


def make_net():
    torch.manual_seed(1)
    if net == "words":  # a dense gradient of a large table of which a step uses few rows
        return nn.Sequential(nn.EmbeddingBag(20 * width, width // 16), nn.Linear(width // 16, 10))
    return nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


def make(way):
    model = make_net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    if way == "optimizer":
        optimizer = ddl.torch.DistributedOptimizer(optimizer)
    elif way != "no sums":
        model = DistributedDataParallel(model)
    if way == "hook":
        model.register_comm_hook(None, ddl.torch.allreduce_hook)
    return model, optimizer


def seconds_of(model, optimizer):
    """Of each step, the slowest rank's."""
    images = torch.randint(20 * width, (batch, 30)) if net == "words" else torch.randn(batch, 784)
    labels = torch.randint(10, (batch,))
    context.barrier()
    begun = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    return context.all_reduce((time.perf_counter() - begun) / steps, "max")


ways = {way: make(way) for way in ("no sums", "gloo", "hook", "optimizer")}
for way in ways.values():
    seconds_of(*way)
seconds = {way: [] for way in ways}
for turn in range(rounds):
    for way in sorted(ways, key=lambda one: (list(ways).index(one) + turn) % len(ways)):
        seconds[way].append(seconds_of(*ways[way]))
if place.rank == 0:
    images = batch * place.size
    alone = min(seconds["no sums"])
    print(f"{sum(one.numel() for one in make_net().parameters()):,} parameters, {place.size} ranks, batch {batch} of a rank")
    for way, taken in seconds.items():
        best, middle = min(taken), statistics.median(taken)
        print(f"{way:10} best {images / best:7.0f} images/s, median {images / middle:7.0f}; {100 * (1 - alone / best):3.0f} % of its best "
              f"step are sums; over Gloo: best {min(seconds['gloo']) / best:.2f}, median "
              f"{statistics.median(seconds['gloo']) / middle:.2f}")
