# SPDX-License-Identifier: MIT
"""ddl with PyTorch tensors on a GPU: each call beside the same on the CPU by PyTorch; the hook and DistributedOptimizer beside
DistributedDataParallel over Gloo."""
import os
import unittest

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import ddl
import ddl.torch

KINDS = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8)

place = ddl.launch.place()
rank, size = place.rank, place.size
torch.distributed.init_process_group("gloo", init_method="file://" + os.environ["MEETING"], rank=rank, world_size=size)
context = ddl.init()


def values(kind, owner, count=1000):
    """Small whole numbers: sums and products are exact in each type."""
    return ((torch.arange(count) * 7 + owner * 3) % 3 + 1).to(kind)


def expected(kind, operation, count=1000):
    rows = torch.stack([values(torch.float64, owner, count) for owner in range(size)])
    result = {"sum": rows.sum(0), "mean": rows.mean(0), "max": rows.amax(0), "min": rows.amin(0), "product": rows.prod(0)}
    return result[operation].to(kind)


def delay():
    """Keeps the current stream busy, so that a call that does not wait for it reads too early."""
    matrix = torch.randn(2048, 2048, device="cuda")
    for _ in range(20):
        matrix = matrix @ matrix / 2048


def late(kind, owner, count=1000):
    result = torch.zeros(count, dtype=kind, device="cuda")
    ready = values(kind, owner, count).cuda()
    delay()
    result.copy_(ready)
    return result


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layers = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 4))

    def forward(self, x):
        return self.layers(x)


def train(model, optimizer, steps=20):
    losses = []
    for step in range(steps):
        torch.manual_seed(1000 * step + rank)
        inputs, targets = torch.randn(16, 64).cuda(), torch.randn(16, 4).cuda()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses + [one.detach().double().sum().item() for one in model.parameters()]


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


class TorchGpu(unittest.TestCase):
    def equal(self, ours, theirs):
        self.assertTrue(ours.is_cuda)
        torch.testing.assert_close(ours.cpu(), theirs, rtol=0, atol=0)

    def calls(self, kind):
        operations = ("sum", "max", "min", "product") + (("mean",) if kind.is_floating_point else ())
        for operation in operations:
            want = expected(kind, operation)
            if operation == "mean" and size == 3:
                continue  # thirds are rounded
            self.equal(context.all_reduce(late(kind, rank), operation), want)
            handle = context.start_all_reduce(late(kind, rank), operation)
            self.equal(handle.wait(), want)
            reduced = context.reduce(late(kind, rank), operation, root=size - 1)
            self.equal(reduced, want if rank == size - 1 else values(kind, rank))
        self.equal(context.broadcast(late(kind, rank), root=size - 1), values(kind, size - 1))
        out = torch.zeros(1000 * size, dtype=kind, device="cuda")
        self.equal(context.all_gather(late(kind, rank), out), torch.cat([values(kind, owner) for owner in range(size)]))
        part = torch.zeros(1000, dtype=kind, device="cuda")
        whole = expected(kind, "sum", 1000 * size)
        self.equal(context.reduce_scatter(late(kind, rank, 1000 * size), part, "sum"),
                   whole[rank * 1000:(rank + 1) * 1000])

    def test_calls_on_the_default_stream(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.calls(kind)
        self.assertRegex(context.device, "cuda:0 \\(NVIDIA")

    def test_calls_on_another_stream(self):
        with torch.cuda.stream(torch.cuda.Stream()):
            self.calls(torch.float32)

    def test_what_is_refused(self):
        gpu = torch.ones(2, device="cuda")
        for call, text in ((lambda: context.gather(gpu, torch.ones(2 * size, device="cuda"), root=rank), "gather cannot take"),
                           (lambda: context.start_broadcast(gpu), "start_broadcast cannot take"),
                           (lambda: context.all_gather(gpu, torch.ones(2 * size)), "two kinds of memory")):
            with self.subTest(text), self.assertRaisesRegex(ddl.UsageError, text):
                call()

    def test_training(self):
        model = DistributedDataParallel(Net().cuda())
        want = torch.tensor(train(model, sgd(model)))
        model = DistributedDataParallel(Net().cuda(), bucket_cap_mb=0.01)
        model.register_comm_hook(None, ddl.torch.allreduce_hook)
        torch.testing.assert_close(torch.tensor(train(model, sgd(model))), want, rtol=1e-4, atol=1e-4)
        model = Net().cuda()
        ddl.torch.broadcast_parameters(model.state_dict())
        optimizer = ddl.torch.DistributedOptimizer(sgd(model), named_parameters=model.named_parameters())
        ddl.torch.broadcast_optimizer_state(optimizer)
        torch.testing.assert_close(torch.tensor(train(model, optimizer)), want, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main(verbosity=1)
