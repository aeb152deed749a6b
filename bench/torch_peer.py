#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch as a peer of ddl-train: the same net (our YAML), data (IDX files), batch, rule and number of threads.

  torch_peer.py speed NET DATA BATCH STEPS              one rank: images/s of the step in the best tenth, peak memory in MiB
  torch_peer.py ddp NET DATA BATCH STEPS RANK SIZE FILE the same with DDP over Gloo; FILE: where the ranks meet
  torch_peer.py curve NET DATA STEPS WEIGHTS LR         a loss a line, from a checkpoint's weights, all images a batch
NET is a file of runtime/models/library, DATA a directory with MNIST's names or "CxHxW" (random images).
DEVICE=cuda in the environment: on a GPU, in float32 or, with TF32=1, in TF32; the peak memory is then the GPU's."""
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

on_gpu = os.environ.get("DEVICE") == "cuda"
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = bool(os.environ.get("TF32"))


class Lrn(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.norm = nn.LocalResponseNorm(layer["size"], layer.get("alpha", 1e-4), layer.get("beta", 0.75), layer.get("k", 1.0))

    def forward(self, x):
        return self.norm(x)


class Net(nn.Module):
    """Steps by name; each reads the outputs of the named steps before it."""

    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList()
        self.inputs = []

    def append(self, module, inputs):
        self.steps.append(module)
        self.inputs.append(inputs)

    def forward(self, x):
        outputs = [x]
        for module, inputs in zip(self.steps, self.inputs):
            outputs.append(module(*(outputs[i] for i in inputs)))
        return outputs[-1]


class Sum(nn.Module):
    def forward(self, *terms):
        return sum(terms[1:], terms[0])


def pool(layer):
    if layer.get("global"):
        return nn.AdaptiveAvgPool2d(1)
    ceil = layer.get("rounding") == "ceil"
    kernel = layer["kernel"]
    stride = layer.get("stride", kernel)
    if layer["kind"] == "max_pool":
        return nn.MaxPool2d(kernel, stride, layer.get("padding", 0), ceil_mode=ceil)
    return nn.AvgPool2d(kernel, stride, layer.get("padding", 0), ceil_mode=ceil)


def build(path, shape, classes):
    """The net, and its weighted layers by name."""
    description = yaml.safe_load(open(path))
    net = Net()
    weighted = {}
    values = [torch.zeros(2, *shape)]  # the output of each step, for two images
    names = {"images": 0}

    def append(module, inputs):
        net.append(module, inputs)
        values.append(module(*(values[i] for i in inputs)))

    if "border" in description:
        height, width = (int(side) for side in description["border"].split("x"))
        append(nn.ZeroPad2d(((width - shape[2]) // 2, (width - shape[2] + 1) // 2,
                             (height - shape[1]) // 2, (height - shape[1] + 1) // 2)), [0])
    for layer in description["layers"]:
        kind = layer["kind"]
        outputs = classes if layer.get("outputs") == "classes" else layer.get("outputs")
        inputs = [names[name] for name in layer["inputs"]] if "inputs" in layer else [len(values) - 1]
        x = values[inputs[0]]
        if kind == "convolution":
            module = nn.Conv2d(x.shape[1], outputs, layer["kernel"], layer.get("stride", 1), layer.get("padding", 0),
                               groups=layer.get("groups", 1), bias=layer.get("bias", True))
        elif kind == "inner_product":
            if x.dim() > 2:
                append(nn.Flatten(), inputs)
                inputs = [len(values) - 1]
            module = nn.Linear(x[0].numel(), outputs)
        elif kind in ("max_pool", "average_pool"):
            module = pool(layer)
        elif kind == "relu":
            module = nn.ReLU(inplace=True)
        elif kind == "batch_norm":
            module = nn.BatchNorm2d(x.shape[1])
        elif kind == "sum":
            module = Sum()
        elif kind == "dropout":
            module = nn.Dropout(layer["rate"])
        elif kind == "lrn":
            module = Lrn(layer)
        else:
            sys.exit(f"no module for {kind}")
        if kind in ("convolution", "inner_product"):
            weighted[layer["name"]] = module
        append(module, inputs)
        names[layer["name"]] = len(values) - 1
    return net, weighted


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
        batch_images, batch_labels = images[first:first + batch], labels[first:first + batch]
        if on_gpu:
            batch_images, batch_labels = (part.to("cuda", non_blocking=True) for part in (batch_images, batch_labels))
        loss(net(batch_images), batch_labels).backward()
        rule.step()
        if on_gpu:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return seconds


def best_tenth(seconds):
    return sorted(seconds)[len(seconds) // 10]


def print_speed(images_a_second):
    if on_gpu:
        print(f"{images_a_second:.1f} {torch.cuda.max_memory_reserved() / 1048576:.1f}")
        return
    print(f"{images_a_second:.1f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f}")


def speed(net_path, data, batch, steps):
    images, labels, classes = load(data)
    net, _ = build(net_path, images.shape[1:], classes)
    if on_gpu:
        net.cuda()
        images, labels = images.pin_memory(), labels.pin_memory()
    print_speed(batch / best_tenth(times_of(net, images, labels, batch, steps)))


def ddp(net_path, data, batch, steps, rank, size, place):
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=size)
    images, labels, classes = load(data)
    net, _ = build(net_path, images.shape[1:], classes)
    net = nn.parallel.DistributedDataParallel(net)
    seconds = times_of(net, images, labels, batch, steps)
    if rank == 0:
        print_speed(size * batch / best_tenth(seconds))


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
