#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cuts the first 1,000 training and 200 test images out of Fashion-MNIST, as IDX in gzip without a time stamp.

usage: regenerate.py [DIR]     DIR: the full set (default: Debian's dataset-fashion-mnist)
"""
import gzip
import pathlib
import struct
import sys

source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist")
target = pathlib.Path(__file__).resolve().parent
for part, count in (("train", 1000), ("t10k", 200)):
    for kind, dimensions in (("images-idx3", 3), ("labels-idx1", 1)):
        name = f"{part}-{kind}-ubyte.gz"
        data = gzip.decompress((source / name).read_bytes())
        header = 4 + 4 * dimensions
        sizes = struct.unpack(f">{dimensions}I", data[4:header])
        item = 1
        for size in sizes[1:]:
            item *= size
        cut = data[:4] + struct.pack(f">{dimensions}I", count, *sizes[1:]) + data[header:header + count * item]
        (target / name).write_bytes(gzip.compress(cut, compresslevel=9, mtime=0))
