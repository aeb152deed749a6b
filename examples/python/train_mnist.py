#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains the net of IBM's ddl_mnist.py (3,274,634 parameters) with PyTorch on several processes; libddl averages gradients.

    ddlrun launch 2 -- python3 train_mnist.py                    # DistributedDataParallel with libddl's hook
    ddlrun launch 2 -- python3 train_mnist.py --sum optimizer    # DistributedOptimizer, as with Horovod
    ddlrun launch 2 -- python3 train_mnist.py --sum gloo         # DistributedDataParallel alone, over Gloo
"""
import argparse
import gzip
import time

import numpy
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

import ddl
import ddl.torch


def read_idx(path, offset):
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)


def read_images(directory):
    images = read_idx(f"{directory}/train-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = read_idx(f"{directory}/train-labels-idx1-ubyte.gz", 8)
    return torch.from_numpy(images / numpy.float32(255)), torch.from_numpy(labels.astype(numpy.int64))


def make_net():
    return nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 10))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="a directory with MNIST's IDX files, .gz")
    parser.add_argument("--sum", choices=("hook", "optimizer", "gloo"), default="hook")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32, help="of one rank")
    parser.add_argument("--lr", type=float, default=0.02)
    options = parser.parse_args()

    if options.sum != "optimizer":
        distributed.init_process_group("gloo")
    context = ddl.torch.init()
    images, labels = read_images(options.data)
    torch.manual_seed(1)
    model = make_net()
    optimizer = torch.optim.SGD(model.parameters(), options.lr, momentum=0.9)
    if options.sum == "optimizer":
        ddl.torch.broadcast_parameters(model.state_dict())
        optimizer = ddl.torch.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    else:
        model = DistributedDataParallel(model)
    if options.sum == "hook":
        model.register_comm_hook(None, ddl.torch.allreduce_hook)

    torch.manual_seed(100 + context.rank)  # other images and other dropout on each rank
    begun = time.perf_counter()
    for step in range(1, options.steps + 1):
        chosen = torch.randint(len(images), (options.batch_size,))
        loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 or step == options.steps:
            mean = context.all_reduce(loss.item(), "mean")
            if context.rank == 0:
                print(f"step {step}: loss {mean:.4f}", flush=True)
    if context.rank == 0:
        speed = options.steps * options.batch_size * context.size / (time.perf_counter() - begun)
        print(f"{context.size} ranks, {options.sum}: {speed:,.0f} images/s", flush=True)


if __name__ == "__main__":
    main()
