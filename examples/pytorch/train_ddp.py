# SPDX-License-Identifier: MIT
"""Trains a small net on Fashion-MNIST with PyTorch's DistributedDataParallel, on CPUs or GPUs.

    ddlrun launch 2 -- python3 train_ddp.py --epochs 2

The script has no line for ddlrun: it reads what torchrun would set (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT).
SIGUSR1 makes it save and exit with status 75, which means "saved, start me again"; it then resumes from --checkpoint.
"""
import argparse
import gzip
import os
import signal
import sys

import numpy
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

SAVED = 75


def read_idx(path, offset):
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)


def read_images(directory, part):
    images = read_idx(f"{directory}/{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    labels = read_idx(f"{directory}/{part}-labels-idx1-ubyte.gz", 8)
    return TensorDataset(torch.from_numpy(images / numpy.float32(255)), torch.from_numpy(labels.astype(numpy.int64)))


def save(path, model, optimizer, epoch):
    """Whole or not at all: a job may be killed at any moment."""
    state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save(state, f"{path}.new")
    os.replace(f"{path}.new", path)


def accuracy(model, loader, device):
    """Of all ranks: each tests its share of the images."""
    counts = torch.zeros(2)
    with torch.no_grad():
        for images, labels in loader:
            right = model(images.to(device)).argmax(1).cpu() == labels
            counts += torch.tensor([right.sum().item(), len(labels)])
    counts = counts.to(device)
    distributed.all_reduce(counts)
    return (counts[0] / counts[1]).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64, help="of one rank")
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--checkpoint", default="")
    options = parser.parse_args()

    stop = torch.zeros(1)
    signal.signal(signal.SIGUSR1, lambda *_: stop.fill_(1))
    use_gpu = torch.cuda.is_available()
    distributed.init_process_group("nccl" if use_gpu else "gloo")
    rank = distributed.get_rank()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) if torch.cuda.device_count() > 1 else 0) if use_gpu else torch.device("cpu")
    torch.manual_seed(1)

    train = read_images(options.data, "train")
    sampler = DistributedSampler(train, seed=1)
    loader = DataLoader(train, options.batch_size, sampler=sampler)
    test = read_images(options.data, "t10k")
    test_loader = DataLoader(test, 1000, sampler=DistributedSampler(test, shuffle=False))

    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), options.lr * distributed.get_world_size(), momentum=0.9)
    first = 0
    if options.checkpoint and os.path.exists(options.checkpoint):
        state = torch.load(options.checkpoint, map_location=device)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
        if rank == 0:
            print(f"resumes after epoch {first}", flush=True)

    for epoch in range(first, options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        tested = accuracy(model, test_loader, device)
        if rank == 0:
            print(f"epoch {epoch + 1}: test accuracy {100 * tested:.1f} %", flush=True)
            if options.checkpoint:
                save(options.checkpoint, model, optimizer, epoch + 1)
        # The signal reaches the ranks at different moments: all stop after the same epoch.
        stopped = stop.to(device)
        distributed.all_reduce(stopped, distributed.ReduceOp.MAX)
        if stopped.item() and epoch + 1 < options.epochs:
            sys.exit(SAVED)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
