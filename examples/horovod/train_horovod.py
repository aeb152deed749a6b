# SPDX-License-Identifier: MIT
"""Trains a small net on Fashion-MNIST with PyTorch and Horovod, on CPUs or GPUs.

    ddlrun launch 2 -- python3 train_horovod.py --epochs 2

The script has no line for ddlrun. It runs under horovodrun and mpirun too, and resumes from --checkpoint.
"""
import argparse
import gzip
import os

import numpy
import torch
import horovod.torch as hvd
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def read_idx(path, offset):
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)


def read_images(directory, part):
    images = read_idx(f"{directory}/{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    labels = read_idx(f"{directory}/{part}-labels-idx1-ubyte.gz", 8)
    return TensorDataset(torch.from_numpy(images / numpy.float32(255)), torch.from_numpy(labels.astype(numpy.int64)))


def share(images, shuffle):
    """This rank's part of the images."""
    return DistributedSampler(images, hvd.size(), hvd.rank(), shuffle=shuffle, seed=1)


def save(path, model, optimizer, epoch):
    """Whole or not at all: a job may be killed at any moment."""
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, f"{path}.new")
    os.replace(f"{path}.new", path)


def accuracy(model, loader, device):
    """Of all ranks: each tests its share of the images."""
    counts = torch.zeros(2)
    with torch.no_grad():
        for images, labels in loader:
            right = model(images.to(device)).argmax(1).cpu() == labels
            counts += torch.tensor([right.sum().item(), len(labels)])
    counts = hvd.allreduce(counts, op=hvd.Sum)
    return (counts[0] / counts[1]).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64, help="of one rank")
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--checkpoint", default="")
    options = parser.parse_args()

    hvd.init()
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", hvd.local_rank() if gpus > 1 else 0) if gpus else torch.device("cpu")
    torch.manual_seed(1)

    train, test = (read_images(options.data, part) for part in ("train", "t10k"))
    sampler = share(train, shuffle=True)
    loader = DataLoader(train, options.batch_size, sampler=sampler)
    test_loader = DataLoader(test, 1000, sampler=share(test, shuffle=False))

    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), options.lr * hvd.size(), momentum=0.9)
    first = 0
    if options.checkpoint and os.path.exists(options.checkpoint):
        state = torch.load(options.checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
        if hvd.rank() == 0:
            print(f"resumes after epoch {first}", flush=True)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)

    for epoch in range(first, options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images.to(device)), labels.to(device)).backward()
            optimizer.step()
        tested = accuracy(model, test_loader, device)
        if hvd.rank() == 0:
            print(f"epoch {epoch + 1}: test accuracy {100 * tested:.1f} %", flush=True)
            if options.checkpoint:
                save(options.checkpoint, model, optimizer, epoch + 1)
    hvd.shutdown()


if __name__ == "__main__":
    main()
