# SPDX-License-Identifier: MIT
"""libddl in PyTorch programs: a hook for DistributedDataParallel, or DistributedOptimizer without it.

    model = DistributedDataParallel(net)
    model.register_comm_hook(None, ddl.torch.allreduce_hook)      # gradients are averaged by libddl

    ddl.torch.broadcast_parameters(net.state_dict())              # as with Horovod
    optimizer = ddl.torch.DistributedOptimizer(optimizer, named_parameters=net.named_parameters())
"""
import functools
import json
import queue
import threading

import torch

from .errors import usage
from .torch_context import init
from .torch_optimizer import DistributedOptimizer

__all__ = ["DistributedOptimizer", "allreduce_hook", "broadcast_optimizer_state", "broadcast_parameters", "init"]


# --- the hook of DistributedDataParallel


class Waiter(threading.Thread):
    """Completes futures in the order of the sums, for C++ code that waits for a torch.futures.Future."""

    def __init__(self):
        super().__init__(name="ddl-waiter", daemon=True)
        self._sums = queue.SimpleQueue()
        self.start()

    def future_of(self, handle):
        done = torch.futures.Future()
        # The value of `done` is nothing; what then() calls waits no more, and its exception is that of the future.
        result = done.then(lambda _: handle.wait())
        self._sums.put((handle, done))
        return result

    def run(self):
        while True:
            handle, done = self._sums.get()
            try:
                handle.wait()
            except Exception:  # noqa: S110  raised again by then()
                pass
            done.set_result(None)
            del handle, done


@functools.lru_cache(maxsize=None)
def waiter():
    return Waiter()


@functools.lru_cache(maxsize=None)
def side_stream(device):
    return torch.cuda.Stream(device)


def reduce_on_gpu(context, buffer):
    """On a stream of its own, so that the backward pass goes on."""
    stream = side_stream(buffer.device)
    stream.wait_stream(torch.cuda.current_stream(buffer.device))
    future = torch.futures.Future(devices=[buffer.device])
    with torch.cuda.stream(stream):
        context.all_reduce(buffer, "mean")
        future.set_result(buffer)
    return future


def allreduce_hook(state, bucket):
    """For model.register_comm_hook(state, hook): averages a bucket of gradients while the backward pass goes on. `state`
    is a ddl.Context, or None: that of ddl.torch.init(), which the first bucket starts."""
    context, buffer = state or init(), bucket.buffer()
    if buffer.is_cuda:
        return reduce_on_gpu(context, buffer)
    return waiter().future_of(context.start_all_reduce(buffer, "mean"))


# --- the same state on all ranks


def broadcast_tensor(context, tensor, root):
    """Of any type: as bytes."""
    source = tensor.detach()
    whole = source.contiguous()
    context.broadcast(whole.reshape(-1).view(torch.uint8), root)
    if whole.data_ptr() != source.data_ptr():
        source.copy_(whole)


def broadcast_parameters(params, root_rank=0, context=None):
    """The tensors of the root become those of all ranks. `params`: model.state_dict(), model.named_parameters() or
    model.parameters()."""
    context = context or init()
    rows = params.items() if isinstance(params, dict) else params
    for index, row in enumerate(rows):
        name, tensor = row if isinstance(row, tuple) else (f"number {index}", row)
        if not isinstance(tensor, torch.Tensor):
            raise usage(f"{name} is of {type(tensor).__name__}, not a tensor", "params", "model.state_dict() without it")
        broadcast_tensor(context, tensor, root_rank)


def pack(value, tensors):
    """`value` as JSON has it; its tensors go into `tensors`. No pickle: what arrives is data and never code."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, torch.Tensor):
        tensors.append(value.detach().cpu().contiguous())
        return ["tensor", list(value.shape), str(value.dtype)[len("torch."):]]
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return ["float", float(value).hex()]
    if isinstance(value, (list, tuple)):
        return ["tuple" if isinstance(value, tuple) else "list", [pack(one, tensors) for one in value]]
    if isinstance(value, dict):
        return ["dict", [[pack(key, tensors), pack(one, tensors)] for key, one in value.items()]]
    raise usage(f"the state of the optimizer has a {type(value).__name__}", "optimizer.state_dict()",
                "tensors, numbers, texts, lists, tuples and dicts of them")


def unpack(packed, tensors):
    """Makes the value again, with new tensors, which go into `tensors`."""
    if not isinstance(packed, list):
        return packed
    kind, content = packed[:2]
    if kind == "tensor":
        tensors.append(torch.empty(content, dtype=getattr(torch, packed[2])))
        return tensors[-1]
    if kind == "float":
        return float.fromhex(content)
    if kind == "dict":
        return {unpack(key, tensors): unpack(one, tensors) for key, one in content}
    return (tuple if kind == "tuple" else list)(unpack(one, tensors) for one in content)


def broadcast_optimizer_state(optimizer, root_rank=0, context=None):
    """State and settings of the root's optimizer become those of all ranks, whatever they have, such as none after a start."""
    context = context or init()
    is_root, tensors = context.rank == root_rank, []
    text = json.dumps(pack(optimizer.state_dict(), tensors)).encode() if is_root else b""
    length = torch.tensor([len(text)])
    context.broadcast(length, root_rank)
    words = bytearray(text if is_root else int(length))
    context.broadcast(words, root_rank)
    state = None if is_root else unpack(json.loads(words), tensors)
    for tensor in tensors:
        broadcast_tensor(context, tensor, root_rank)
    if not is_root:
        optimizer.load_state_dict(state)
