#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch as a peer of ddl-train: the same net (our YAML), data (IDX files), batch, rule and number of threads.

  torch_peer.py speed NET DATA BATCH STEPS              one rank: images/s of the step in the best tenth, peak memory in MiB
  torch_peer.py ddp NET DATA BATCH STEPS RANK SIZE FILE the same with DDP over Gloo; FILE: where the ranks meet
  torch_peer.py curve NET DATA STEPS WEIGHTS LR         a loss a line, from a checkpoint's weights, all images a batch
NET is a file of runtime/models/library, DATA a directory with MNIST's names or "CxHxW" (random images)."""
import gzip
import json
import os
import resource
import struct
import sys
import time

import numpy
import torch
import yaml
from torch import nn


class Lrn(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.norm = nn.LocalResponseNorm(layer["size"], layer.get("alpha", 1e-4), layer.get("beta", 0.75), layer.get("k", 1.0))

    def forward(self, x):
        return self.norm(x)


def pool(layer):
    ceil = layer.get("rounding") == "ceil"
    kernel = layer["kernel"]
    stride = layer.get("stride", kernel)
    if layer["kind"] == "max_pool":
        return nn.MaxPool2d(kernel, stride, layer.get("padding", 0), ceil_mode=ceil)
    return nn.AvgPool2d(kernel, stride, layer.get("padding", 0), ceil_mode=ceil)


def build(path, shape, classes):
    """The net as modules one after the other, and its weighted layers by name."""
    description = yaml.safe_load(open(path))
    modules = []
    weighted = {}
    x = torch.zeros(1, *shape)
    if "border" in description:
        height, width = (int(side) for side in description["border"].split("x"))
        modules.append(nn.ZeroPad2d(((width - shape[2]) // 2, (width - shape[2] + 1) // 2,
                                     (height - shape[1]) // 2, (height - shape[1] + 1) // 2)))
        x = modules[-1](x)
    for layer in description["layers"]:
        kind = layer["kind"]
        outputs = classes if layer.get("outputs") == "classes" else layer.get("outputs")
        if kind == "convolution":
            step = [nn.Conv2d(x.shape[1], outputs, layer["kernel"], layer.get("stride", 1), layer.get("padding", 0),
                              groups=layer.get("groups", 1))]
        elif kind == "inner_product":
            step = ([nn.Flatten()] if x.dim() > 2 else []) + [nn.Linear(x[0].numel(), outputs)]
        elif kind in ("max_pool", "average_pool"):
            step = [pool(layer)]
        elif kind == "relu":
            step = [nn.ReLU(inplace=True)]
        elif kind == "dropout":
            step = [nn.Dropout(layer["rate"])]
        elif kind == "lrn":
            step = [Lrn(layer)]
        else:
            sys.exit(f"no module for {kind}")
        if kind in ("convolution", "inner_product"):
            weighted[layer["name"]] = step[-1]
        modules += step
        for module in step:
            x = module(x)
    return nn.Sequential(*modules), weighted


def read_idx(path):
    for name, opener in ((path, open), (path + ".gz", gzip.open)):
        if os.path.exists(name):
            data = opener(name, "rb").read()
            dims = data[3]
            sides = struct.unpack(f">{dims}I", data[4:4 + 4 * dims])
            return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * dims).reshape(sides)
    sys.exit(f"no {path}")


def load(data, count=4096):
    if "x" in data and not os.path.isdir(data):
        shape = tuple(int(side) for side in data.split("x"))
        torch.manual_seed(1)
        return torch.randn(min(count, 512), *shape), torch.randint(0, 10, (min(count, 512),)), 10
    images = read_idx(os.path.join(data, "train-images-idx3-ubyte")).astype(numpy.float64) / 255.0
    labels = torch.from_numpy(read_idx(os.path.join(data, "train-labels-idx1-ubyte")).astype(numpy.int64))
    images = (images - images.mean()) / images.std()
    return torch.from_numpy(images.astype(numpy.float32))[:, None], labels, int(labels.max()) + 1


def times_of(net, images, labels, batch, steps):
    rule = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
    loss = nn.CrossEntropyLoss()
    seconds = []
    for step in range(steps):
        start = time.perf_counter()
        first = step * batch % max(len(images) - batch, 1)
        rule.zero_grad(set_to_none=True)
        loss(net(images[first:first + batch]), labels[first:first + batch]).backward()
        rule.step()
        seconds.append(time.perf_counter() - start)
    return seconds


def best_tenth(seconds):
    return sorted(seconds)[len(seconds) // 10]


def tell_speed(images_a_second):
    print(f"{images_a_second:.1f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f}")


def speed(net_path, data, batch, steps):
    images, labels, classes = load(data)
    net, _ = build(net_path, images.shape[1:], classes)
    tell_speed(batch / best_tenth(times_of(net, images, labels, batch, steps)))


def ddp(net_path, data, batch, steps, rank, size, place):
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=size)
    images, labels, classes = load(data)
    net, _ = build(net_path, images.shape[1:], classes)
    net = nn.parallel.DistributedDataParallel(net)
    seconds = times_of(net, images, labels, batch, steps)
    if rank == 0:
        tell_speed(size * batch / best_tenth(seconds))


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        start = file.tell()
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__" or entry["dtype"] != "F32":
                continue
            begin, end = entry["data_offsets"]
            file.seek(start + begin)
            tensors[name] = torch.frombuffer(bytearray(file.read(end - begin)), dtype=torch.float32).reshape(entry["shape"])
    return tensors


def curve(net_path, data, steps, weights, lr):
    images, labels, classes = load(data)
    net, weighted = build(net_path, images.shape[1:], classes)
    tensors = read_safetensors(weights)
    with torch.no_grad():
        for name, module in weighted.items():
            module.weight.copy_(tensors[name + ".weight"].reshape(module.weight.shape))
            module.bias.copy_(tensors[name + ".bias"])
    rule = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    for _ in range(steps):
        rule.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        rule.step()
        print(f"{loss.item():.9g}")


def main(words):
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    if words[:1] == ["speed"]:
        speed(words[1], words[2], int(words[3]), int(words[4]))
    elif words[:1] == ["ddp"]:
        ddp(words[1], words[2], int(words[3]), int(words[4]), int(words[5]), int(words[6]), words[7])
    elif words[:1] == ["curve"]:
        curve(words[1], words[2], int(words[3]), words[4], float(words[5]))
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
