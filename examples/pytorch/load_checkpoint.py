#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads a checkpoint of ddl-train into PyTorch and tests it. The accuracy is that of `ddl-train test`."""
import argparse
import glob
import gzip
import json
import os
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F
import yaml


IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".pgm", ".pnm")


def find_checkpoint(path):
    """The .safetensors file itself; or the file `best` or `latest` that names one; or a directory with `latest`."""
    if os.path.isdir(path):
        path = os.path.join(path, "latest")
    if path.endswith(".safetensors"):
        return path
    with open(path, encoding="utf-8") as file:
        return os.path.join(os.path.dirname(path), file.read().strip())


def read_checkpoint(path):
    """The metadata, and the tensors by name. The safetensors package reads such files too."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        values = file.read()
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = torch.from_numpy(np.frombuffer(values[begin:end], "<f4").reshape(entry["shape"]).copy())
    return metadata, tensors


class Net(torch.nn.Module):
    """The graph of `net_yaml`. A layer's tensors are LAYER.weight, LAYER.bias, LAYER.running_mean, LAYER.running_var."""

    def __init__(self, metadata, tensors):
        super().__init__()
        self.layers = yaml.safe_load(metadata["net_yaml"])["layers"]
        self.tensors = {}
        for name, tensor in tensors.items():
            if name.startswith("optimizer."):
                continue
            key = name.replace(".", "_").replace("/", "_")
            if name.endswith(("running_mean", "running_var")):
                self.register_buffer(key, tensor)
            else:
                self.register_parameter(key, torch.nn.Parameter(tensor))
            self.tensors[name] = key

    def tensor(self, layer, part):
        key = self.tensors.get(f"{layer['name']}.{part}")
        return None if key is None else getattr(self, key)

    def forward(self, images):
        outputs = {"data": images}
        for layer in self.layers:
            inputs = [outputs[name] for name in layer["inputs"]]
            outputs[layer["name"]] = self.compute(layer, inputs)
        return outputs[self.layers[-1]["name"]].flatten(1)

    def compute(self, layer, inputs):
        kind, x = layer["kind"], inputs[0]
        weight, bias = self.tensor(layer, "weight"), self.tensor(layer, "bias")
        if kind == "convolution":
            return F.conv2d(x, weight, bias, layer["stride"], layer["padding"], layer["dilation"], layer["groups"])
        if kind == "inner_product":
            return F.linear(x.flatten(1), weight.reshape(weight.shape[0], -1), bias)[:, :, None, None]
        if kind in ("max_pool", "average_pool"):
            return self.pool(layer, x)
        if kind == "relu":
            return F.leaky_relu(x, float(layer["slope"]))
        if kind == "lrn":
            alpha, beta, k = (float(layer[key]) for key in ("alpha", "beta", "k"))
            return F.local_response_norm(x, layer["size"], alpha, beta, k)
        if kind == "batch_norm":
            mean, variance = self.tensor(layer, "running_mean"), self.tensor(layer, "running_var")
            return F.batch_norm(x, mean, variance, weight, bias, False, 0.0, float(layer["epsilon"]))
        if kind == "sum":
            return sum(inputs)
        if kind == "concat":
            return torch.cat(inputs, 1)
        return x  # dropout, and the loss

    @staticmethod
    def pool(layer, x):
        largest = layer["kind"] == "max_pool"
        if layer.get("global"):
            return x.amax((2, 3), keepdim=True) if largest else x.mean((2, 3), keepdim=True)
        words = (layer["kernel"], layer["stride"], layer["padding"])
        ceil = layer["rounding"] == "ceil"
        if largest:
            return F.max_pool2d(x, *words, ceil_mode=ceil)
        return F.avg_pool2d(x, *words, ceil_mode=ceil, count_include_pad=True)


def read_idx(directory, kind, start):
    for path in glob.glob(os.path.join(directory, f"t10k-{kind}-*-ubyte*")):
        data = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
        return data, np.frombuffer(data, np.uint8, offset=start)
    return None, None


def find_images(directory):
    """All images at any depth, as ImageFolder finds them, without hidden names."""
    for root, directories, files in os.walk(directory, followlinks=True):
        directories[:] = [name for name in directories if not name.startswith(".")]
        for name in files:
            if name.lower().endswith(IMAGE_ENDINGS) and not name.startswith("."):
                yield os.path.join(root, name)


def hash_name(name):
    """The 64-bit hash of a photo's path in its tree, as in runtime/core/hash.hpp of ddlrun."""
    prime, mask = 0x9FB21C651E98DF25, (1 << 64) - 1
    value, data = 0xCBF29CE484222325, os.fsencode(name)
    whole = len(data) // 8 * 8
    for word in [*struct.unpack(f"<{whole // 8}Q", data[:whole]), *data[whole:]]:
        value = (value ^ word) * prime & mask
        value = (value << 29 | value >> 35) & mask
    value = (value ^ len(data)) * prime & mask
    return value ^ value >> 32


def find_test_photos(metadata, directory, names):
    """The test photos with their labels: those of val/CLASS, else the part that --val-fraction kept of a tree."""
    tree, fraction = os.path.join(directory, "val"), 0.0
    if not os.path.isdir(tree):
        tree, fraction = os.path.join(directory, "train"), float(metadata.get("val_fraction") or 0.0)
        tree = tree if os.path.isdir(tree) else directory
    for label, name in enumerate(names):
        for path in find_images(os.path.join(tree, name)):
            if fraction == 0.0 or (hash_name(os.path.relpath(path, tree)) >> 11) * 2.0**-53 < fraction:
                yield path, label


def read_images(metadata, directory):
    """Test images as the net takes them, before mean and scale, and their labels."""
    data, pixels = read_idx(directory, "images", 16)
    if data is not None:
        count, height, width = struct.unpack(">3I", data[4:16])
        return pixels.reshape(count, 1, height, width), read_idx(directory, "labels", 8)[1]
    from PIL import Image

    names = metadata["class_names"].split("/")
    channels, height, width = (int(n) for n in metadata["image_size"].split("x"))
    images, labels = [], []
    for path, label in find_test_photos(metadata, directory, names):
        image = Image.open(path).convert("RGB" if channels == 3 else "L").resize((width, height), Image.BILINEAR)
        pixels = np.asarray(image).reshape(height, width, channels)
        images.append(pixels[:, :, ::-1].transpose(2, 0, 1))  # blue, green, red
        labels.append(label)
    if not images:
        sys.exit(f"no test photos of the classes {', '.join(names)}: {directory}/val/CLASS and {directory}/CLASS have none")
    return np.stack(images), np.array(labels)


def transform(metadata, images):
    """The crop in the middle, then (x - mean) * scale."""
    x = torch.from_numpy(np.array(images)).float()  # a copy: PyTorch warns of memory that is read-only
    mean = torch.tensor([float(v) for v in metadata["image_mean"].split(",") if v] or [0.0])
    scale = torch.tensor([float(v) for v in metadata["image_scale"].split(",") if v] or [1.0])
    if mean.numel() > x.shape[1]:  # one for each pixel
        x = x - mean.reshape(x.shape[1:])
    else:
        x = x - mean.reshape(-1, 1, 1)
    if metadata["image_crop"]:
        height, width = (int(n) for n in metadata["image_crop"].split("x"))
        top, left = (x.shape[2] - height) // 2, (x.shape[3] - width) // 2
        x = x[:, :, top : top + height, left : left + width]
    return x * scale.reshape(-1, 1, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Needs PyTorch, NumPy and PyYAML; Pillow for photos.")
    parser.add_argument("checkpoint", help="CKPT.safetensors, ckpt/best, or a directory: its newest")
    parser.add_argument("data", help="a directory with MNIST's t10k-*-ubyte files (also .gz), val/CLASS/*.jpg, or CLASS/*.jpg")
    words = parser.parse_args()
    metadata, tensors = read_checkpoint(find_checkpoint(words.checkpoint))
    net = Net(metadata, tensors).eval()
    images, labels = read_images(metadata, words.data)
    right, classes = 0, int(metadata["classes"])  # the net may have more outputs
    with torch.no_grad():
        for begin in range(0, len(images), 500):
            logits = net(transform(metadata, images[begin : begin + 500]))
            right += int((logits[:, :classes].argmax(1).numpy() == labels[begin : begin + 500]).sum())
    print(f"test accuracy {100 * right / len(images):.2f} %: {len(images)} images")


if __name__ == "__main__":
    main()
