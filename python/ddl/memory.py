# SPDX-License-Identifier: MIT
"""Where the numbers of an array lie, whatever made it. Imports neither NumPy nor PyTorch: an array of theirs shows that
the program has."""
import ctypes
import math
import sys
from typing import Any, NamedTuple, Optional

from .errors import usage

TYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8")  # in ddl_type's order
OF_KIND = {("f", 4): "float32", ("d", 8): "float64", ("e", 2): "float16", ("B", 1): "uint8"}
OF_KIND.update({(letter, size): f"int{8 * size}" for letter in "ilq" for size in (4, 8)})


class Memory(NamedTuple):
    """A vector of numbers that the C interface can use in place."""
    address: int
    count: int
    type: str
    owner: Any  # what keeps it alive
    on_gpu: bool = False
    stream: Optional[int] = None

    @property
    def type_number(self):
        return TYPES.index(self.type)


def refuse_type(name, word):
    return usage(f"{word} has the type {name}, which libddl does not have", word, "one of " + ", ".join(TYPES))


def refuse_strides(shape, word, way):
    return usage(f"{word} of shape {tuple(shape)} is not contiguous", word, way)


def of_torch(tensor, torch, word):
    if tensor.layout != torch.strided:
        raise usage(f"{word} is sparse", word, f"{word}.to_dense()")
    name = str(tensor.dtype)[len("torch."):]
    if name not in TYPES:
        raise refuse_type(str(tensor.dtype), word)
    if not tensor.is_contiguous():
        raise refuse_strides(tensor.shape, word, f"{word} = {word}.contiguous()")
    if tensor.device.type not in ("cpu", "cuda"):
        raise usage(f"{word} lies on the device {tensor.device}", word, "a tensor of the CPU or of a CUDA device")
    on_gpu = tensor.device.type == "cuda"
    stream = torch.cuda.current_stream(tensor.device).cuda_stream if on_gpu else None
    return Memory(tensor.data_ptr(), tensor.numel(), name, tensor, on_gpu, stream or None)


def of_numpy(array, is_written, word):
    interface = array.__array_interface__
    address, is_read_only = interface["data"]
    if str(array.dtype) not in TYPES:
        raise refuse_type(str(array.dtype), word)
    if interface.get("strides") is not None:
        raise refuse_strides(array.shape, word, f"{word} = numpy.ascontiguousarray({word})")
    if is_written and is_read_only:
        raise usage(f"{word} is read-only", word, f"{word} = {word}.copy()")
    return Memory(address, math.prod(array.shape), str(array.dtype), array)


def of_buffer(value, word):
    """array.array, bytearray, ctypes' arrays and whatever else has a buffer."""
    view = memoryview(value)
    name = OF_KIND.get((view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>"), view.itemsize))
    if name is None:
        raise refuse_type(f"'{view.format}' of {view.itemsize} bytes", word)
    if not view.c_contiguous:
        raise refuse_strides(view.shape or (), word, "a copy of it")
    if view.readonly:
        raise usage(f"{word} is read-only", word, f"bytearray({word})")
    pinned = (ctypes.c_char * view.nbytes).from_buffer(view)
    return Memory(ctypes.addressof(pinned), view.nbytes // view.itemsize, name, (value, pinned))


def memory_of(value, is_written=True, word="data"):
    """`word` is the name of the argument, for messages."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return of_torch(value, torch, word)
    if hasattr(value, "__array_interface__") and hasattr(value, "__setitem__"):  # a scalar of NumPy has only the first
        return of_numpy(value, is_written, word)
    try:
        return of_buffer(value, word)
    except (TypeError, BufferError):
        raise usage(f"{word} is of {type(value).__name__}, which has no memory to work in", word,
                    "a NumPy array, a PyTorch tensor, an array.array or a bytearray") from None
