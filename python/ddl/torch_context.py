# SPDX-License-Identifier: MIT
"""The Context of a PyTorch program."""
import os
import secrets
import socket

import torch

from . import context as contexts
from . import launch
from .errors import usage


def init(options=None):
    """ddl.init(); under torchrun, which libddl cannot ask for the other ranks, they agree by torch.distributed."""
    distributed = torch.distributed
    if contexts.live or not (distributed.is_available() and distributed.is_initialized()):
        return contexts.init(options)
    size, place = distributed.get_world_size(), launch.place()
    if size == 1 or place.launcher not in ("", "torchrun"):
        if size != place.size:
            raise usage(f"torch.distributed has {size} ranks, the launcher {place.launcher or 'none'} {place.size}",
                        "ddl.torch.init", "one process group over all ranks of the launch")
        return contexts.init(options)
    return init_by_process_group(distributed, options)


def init_by_process_group(distributed, options):
    """Rank 0 chooses a port and a token, which the others get over the process group."""
    address, meeting = os.environ.get("MASTER_ADDR", ""), [None]
    if distributed.get_rank() == 0:
        family, _, _, _, name = socket.getaddrinfo(address or "127.0.0.1", 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as free:
            free.bind(name)
            host = f"[{name[0]}]" if ":" in name[0] else name[0]
            meeting = [(f"{host}:{free.getsockname()[1]}", secrets.token_hex(32))]
    distributed.broadcast_object_list(meeting, 0)
    variables = {"DDL_MASTER": meeting[0][0], "DDL_TOKEN": meeting[0][1], "DDL_RANK": str(distributed.get_rank()),
                 "DDL_SIZE": str(distributed.get_world_size())}
    os.environ.update(variables)
    try:
        return contexts.init(options)
    finally:
        for name in variables:  # a program that this one starts is no rank
            del os.environ[name]
