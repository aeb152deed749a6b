#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads two checkpoints of neighbouring steps with nothing but json, struct and zlib, and judges them:
read_checkpoint.py NET LR FILE_OF_STEP_T FILE_OF_STEP_T_PLUS_1"""
import array
import json
import struct
import sys
import zlib

# LeNet-5 of the paper with ten classes, in the order of its layers.
SHAPES = {"lenet5": [[6, 1, 5, 5], [6], [16, 6, 5, 5], [16], [120, 400], [120], [84, 120], [84], [10, 84], [10]]}


def pairs(items):
    names = [name for name, _ in items]
    assert len(names) == len(set(names)), f"a name twice: {names}"
    return dict(items)


def read(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    text = data[8 : 8 + length]
    assert len(text) == length and length % 8 == 0 and text[:1] == b"{", (length, text[:1])
    header = json.loads(text.decode("utf-8"), object_pairs_hook=pairs)
    metadata = header.pop("__metadata__")
    assert all(isinstance(value, str) for value in metadata.values())
    blank = text.replace(b'"crc32":"' + metadata["crc32"].encode(), b'"crc32":"00000000')
    assert f"{zlib.crc32(data[:8] + blank):08x}" == metadata["crc32"], "the header's checksum"
    tensors, at = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        count = 1
        for size in entry["shape"]:
            count *= size
        assert begin == at and end - begin == 4 * count and entry["dtype"] == "F32", (name, entry)
        part = data[8 + length + begin : 8 + length + end]
        assert f"{zlib.crc32(part):08x}" == metadata["crc32." + name], name
        values = array.array("f")
        values.frombytes(part)
        tensors[name] = (entry["shape"], values)
        at = end
    assert 8 + length + at == len(data), "bytes behind the tensors"
    return metadata, tensors


def main():
    net, lr, first_path, second_path = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
    first_metadata, first = read(first_path)
    metadata, second = read(second_path)
    assert metadata["net"] == net and int(metadata["step"]) == int(first_metadata["step"]) + 1
    assert metadata["global_batch"] == "40" and metadata["ranks"] == "2" and metadata["seed"] == "1"
    weights = [name for name in second if not name.startswith("optimizer.")]
    assert [second[name][0] for name in weights] == SHAPES[net], [(n, second[n][0]) for n in weights]
    assert len(second) == 2 * len(weights)
    # What SGD with momentum does between two steps: w' = w - lr * v'.
    worst = moved = 0.0
    for name in weights:
        old, new = first[name][1], second[name][1]
        velocity = second["optimizer.momentum_buffer." + name][1]
        worst = max(worst, max(abs(b - (a - lr * v)) for a, b, v in zip(old, new, velocity)))
        moved = max(moved, max(abs(b - a) for a, b in zip(old, new)))
    print(f"{len(second)} tensors; w' = w - lr*v' to {worst:.1e}, weights moved by up to {moved:.1e}")
    assert worst < 1e-7 < 1e-5 < moved


main()
