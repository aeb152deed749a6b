# SPDX-License-Identifier: MIT
"""libddl from Python: collective operations over all ranks of a job, on NumPy arrays, PyTorch tensors and buffers.

    import ddl, numpy
    with ddl.Context() as context:                  # under ddlrun launch, mpirun or srun; alone it is one rank
        gradient = numpy.ones(1000, numpy.float32)
        context.all_reduce(gradient, "mean")        # in place

ddl.launch has the rank before the start, ddl.torch what PyTorch programs need. Neither NumPy nor PyTorch is imported here.
"""
from . import launch
from .context import Context, Handle, init
from .errors import Error, LostError, MismatchError, UnsupportedError, UsageError
from .version import VERSION as __version__

__all__ = ["Context", "Error", "Handle", "LostError", "MismatchError", "UnsupportedError", "UsageError", "init", "launch"]


def __getattr__(name):
    """ddl.torch is loaded where it is used: it imports PyTorch."""
    if name == "torch":
        import importlib

        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
