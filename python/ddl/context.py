# SPDX-License-Identifier: MIT
"""The Context: a group of ranks and its collective operations, in place on the caller's arrays."""
import atexit
import ctypes
import math
import numbers
import os
import sys
import threading
import traceback

from . import launch, library
from .errors import Error, UsageError, usage
from .memory import TYPES, memory_of

no_operation = object()  # of a call that has none; None is a mistake of the caller

OPERATIONS = {"sum": 0, "mean": 1, "max": 2, "min": 3, "product": 4}  # ddl_operation
INTEGERS = ("int32", "int64", "uint8")

live = []  # Contexts that have neither ended nor been abandoned; they end in this order at exit


class Handle:
    """A call that was started. The array must not be touched before wait() returns; it stays alive until then."""

    def __init__(self, context, pointer, data, memory):
        self._context, self._pointer, self._data = context, pointer, data
        self._memory = memory  # keeps a buffer pinned
        self._lock, self._finished, self._error = threading.Lock(), threading.Event(), None

    def wait(self):
        """Blocks until the call is complete, and returns its array; raises the error of the call, each time. Any thread."""
        with self._lock:
            pointer, self._pointer = self._pointer, None
        if pointer is not None:
            try:
                self._context._run("ddl_wait", pointer)
            except Error as error:
                self._error = error
            self._finished.set()
        self._finished.wait()
        if self._error is not None:
            raise self._error
        return self._data

    def done(self):
        """Whether wait() would not block."""
        with self._lock:
            return self._finished.is_set() if self._pointer is None else bool(library.load().ddl_done(self._pointer))

    def __del__(self):
        # The Context keeps a handle until its call is complete: this frees it and does not block.
        if self._pointer is not None and self._context._process == os.getpid() and library.load().ddl_done(self._pointer):
            library.load().ddl_wait(self._pointer)


class Context:
    """Blocks until all ranks have started. Every method but the properties is collective: all ranks make the same calls in
    the same order, with the same counts and types. One thread at a time.

    `options` is PowerAI DDL's option string, such as "-timeout 60"; the variable DDL_OPTIONS overrides it.
    """

    def __init__(self, options=None):
        self.options = options
        self._pointer, self._started, self._process = None, [], os.getpid()
        self._has_failed = False  # the program got an error after which each call fails
        place = launch.place()
        if place.launcher == "torchrun" and place.size > 1 and "DDL_MASTER" not in os.environ:
            raise usage(f"torchrun starts {place.size} ranks, and libddl cannot connect them alone", "TORCHELASTIC_RUN_ID",
                        "ddl.torch.init() after torch.distributed.init_process_group(), or ddlrun launch instead of torchrun")
        pointer = ctypes.c_void_p()
        library.call("ddl_init", None, None, None if options is None else options.encode(), ctypes.byref(pointer))
        self._pointer = pointer.value
        live.append(self)
        if self.size == 1 and place.size > 1:  # each rank would train alone, without an error
            self.abandon()
            raise usage(f"{place.launcher} starts {place.size} ranks, and libddl is connected to none of them",
                        f"rank {place.rank}", "an MPI launcher, or -x DDL_TOKEN_FILE=FILE with ddlrun launch --launcher ssh")

    # --- local

    @property
    def rank(self):
        return library.load().ddl_rank(self._open())

    @property
    def size(self):
        return library.load().ddl_size(self._open())

    @property
    def local_rank(self):
        """Among the ranks of this host."""
        return library.load().ddl_local_rank(self._open())

    @property
    def local_size(self):
        return library.load().ddl_local_size(self._open())

    @property
    def device(self):
        """ "cuda:0 (NVIDIA H200)" once a GPU is used, else "cpu". Waits for started calls."""
        return library.load().ddl_device(self._open()).decode()

    # --- collective, blocking; each returns the array with the result

    def all_reduce(self, data, operation):
        """`data` becomes the "sum", "mean", "max", "min" or "product" over all ranks, the same bits on all of them; a
        mean needs floating point. Of a number the result is returned, as float64 or int64."""
        if isinstance(data, numbers.Real):
            return self._all_reduce_number(data, operation)
        return self._call("all_reduce", data, operation=operation)

    def reduce(self, data, operation, root=0):
        """As all_reduce(), on the rank `root`; the `data` of the others stays as it is."""
        return self._call("reduce", data, root, operation=operation)

    def broadcast(self, data, root=0):
        """The `data` of the rank `root` is copied to all ranks."""
        return self._call("broadcast", data, root)

    def all_gather(self, data, out):
        """`out`, of size * len(data) numbers, becomes the `data` of all ranks in rank order."""
        return self._in_out("all_gather", data, out, factor_of_out=self.size)

    def gather(self, data, out=None, root=0):
        """As all_gather(), on the rank `root`; the others need no `out`."""
        if self.rank != root:
            return self._one_sided("gather", memory_of(data, is_written=False), None, root)
        return self._in_out("gather", data, out, root, factor_of_out=self.size)

    def scatter(self, data, out, root=0):
        """`out` becomes the part of this rank of the root's `data`, of size * len(out) numbers; the others need no `data`."""
        if self.rank != root:
            return self._one_sided("scatter", None, memory_of(out, word="out"), root, out)
        return self._in_out("scatter", data, out, root, factor_of_in=self.size)

    def reduce_scatter(self, data, out, operation):
        """`out` becomes the part of this rank of the sum of all `data`, each of size * len(out) numbers."""
        return self._in_out("reduce_scatter", data, out, operation=operation, factor_of_in=self.size)

    def barrier(self):
        """Returns after all ranks have called it."""
        self._run("ddl_barrier", self._open())

    # --- collective, on a communication thread: each returns a Handle at once

    def start_all_reduce(self, data, operation):
        return self._start("all_reduce", data, operation=operation)

    def start_reduce(self, data, operation, root=0):
        return self._start("reduce", data, root, operation=operation)

    def start_broadcast(self, data, root=0):
        return self._start("broadcast", data, root)

    # --- the end

    def finalize(self):
        """Completes started calls and ends the Context, on all ranks. Raises the first error, if there was one."""
        pointer = self._close()
        if pointer is not None:
            self._run("ddl_finalize", pointer)

    def abandon(self, reason="abandon()"):
        """Ends the Context of a rank that cannot go on: calls of the other ranks raise LostError, which names this rank and
        has the first line of `reason`."""
        pointer = self._close()
        if pointer is not None:
            library.load().ddl_abandon(pointer, str(reason).encode(errors="replace"))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None or (isinstance(error, SystemExit) and not error.code):
            self.finalize()
        else:
            self.abandon(reason_of(error))

    # --- inside

    def _open(self):
        if self._pointer is None:
            raise usage("this Context has ended", "ddl.Context", "calls before finalize(), and inside of `with`")
        if self._process != os.getpid():
            raise usage("this Context belongs to another process", "os.fork", "a Context in the process that started libddl")
        return self._pointer

    def _close(self):
        """From now on the Context has ended. The pointer for the function that ends it; None where it had ended before."""
        pointer, self._pointer = self._pointer, None
        if pointer is not None:
            live.remove(self)
        return pointer

    def _run(self, name, *arguments):
        try:
            library.call(name, *arguments)
        except UsageError:
            raise
        except Error:
            self._has_failed = True
            raise

    def _run_on(self, memory, name, *arguments, last=()):
        """The function for host or GPU memory; the stream comes before the last arguments."""
        if memory.on_gpu:
            self._run("ddl_gpu_" + name, *arguments, memory.stream, *last)
        else:
            self._run("ddl_" + name, *arguments, *last)

    def _call(self, name, data, *more, operation=no_operation):
        memory = memory_of(data)
        more = with_operation(operation, memory.type, more)
        self._run_on(memory, name, self._open(), memory.address, memory.count, memory.type_number, *more)
        return data

    def _all_reduce_number(self, value, operation):
        whole = isinstance(value, numbers.Integral)
        kind = "int64" if whole else "float64"
        try:
            one = (ctypes.c_int64 if whole else ctypes.c_double)(value if whole else float(value))
        except OverflowError:
            one = None
        if one is None or one.value != value and not math.isnan(value):
            raise usage(f"{value} does not fit into {kind}", "data", "a float, or an array")
        number = operation_number(operation, kind, "a float")
        self._run("ddl_all_reduce", self._open(), ctypes.byref(one), 1, TYPES.index(kind), number)
        return one.value

    def _in_out(self, name, data, out, *more, operation=no_operation, factor_of_in=1, factor_of_out=1):
        memory, result = memory_of(data, is_written=False), memory_of(out, word="out")
        more = with_operation(operation, memory.type, more)
        if memory.type != result.type:
            raise usage(f"data is of {memory.type}, out of {result.type}", "out", f"an out of {memory.type}")
        if memory.count * factor_of_out != result.count * factor_of_in:
            need = f"{memory.count * factor_of_out}" if factor_of_in == 1 else f"{memory.count} / {factor_of_in}"
            raise usage(f"out has {result.count} numbers, data {memory.count}, of {self.size} ranks", "out",
                        f"an out of {need} numbers")
        if memory.on_gpu != result.on_gpu or (memory.on_gpu and name in ("gather", "scatter")):
            raise usage(f"{name} cannot take " + ("GPU memory" if memory.on_gpu == result.on_gpu else "two kinds of memory"),
                        "data", "data and out in host memory" if name in ("gather", "scatter") else "both on the GPU")
        self._run_on(result, name, self._open(), memory.address, result.address, min(memory.count, result.count),
                     memory.type_number, *more)
        return out

    def _one_sided(self, name, data, out, root, result=None):
        """gather or scatter on a rank that is not the root."""
        given = data or out
        if given.on_gpu:
            raise usage(f"{name} cannot take GPU memory", "data", "data and out in host memory")
        self._run("ddl_" + name, self._open(), data and data.address, out and out.address, given.count, given.type_number, root)
        return result

    def _start(self, name, data, *more, operation=no_operation):
        memory = memory_of(data)
        more = with_operation(operation, memory.type, more)
        pointer = ctypes.c_void_p()
        words = (self._open(), memory.address, memory.count, memory.type_number, *more)
        if memory.on_gpu and name != "all_reduce":
            raise usage(f"start_{name} cannot take GPU memory", "data", f"{name}, which returns when the stream has the order")
        self._run_on(memory, "start_" + name, *words, last=(ctypes.byref(pointer),))
        handle = Handle(self, pointer.value, data, memory)
        # A program may drop a handle: its memory stays until the call is complete.
        self._started = [one for one in self._started if not one.done()] + [handle]
        return handle


def operation_number(operation, kind, instead):
    if operation not in OPERATIONS:
        raise usage(f"unknown operation {operation!r}", "operation", "one of " + ", ".join(OPERATIONS))
    if operation == "mean" and kind in INTEGERS:  # libddl's own text is in words of C++
        raise usage(f"{kind} cannot be averaged", "operation", f'"sum", or {instead}')
    return OPERATIONS[operation]


def with_operation(operation, kind, more):
    """The last arguments of a call: with the operation before them, if it has one."""
    return more if operation is no_operation else (operation_number(operation, kind, "an array of float32"), *more)


def init(options=None):
    """The Context of this process: the first call starts it, on all ranks; further calls return it, also one of Context()."""
    if not live:
        return Context(options)
    if options is not None and options != live[0].options:
        raise usage(f"libddl was started with the options {live[0].options!r} before", "options", "one call with options")
    return live[0]


def reason_of(error):
    """The first line of an exception, as Python prints it: 'ValueError: no such part'."""
    return "".join(traceback.format_exception_only(type(error), error)).strip().split("\n")[0]


def end_at_exit():
    """A program that ends by an exception leaves its ranks; else its Contexts end in order, as by finalize()."""
    failed = getattr(sys, "last_type", None) is not None
    for context in [one for one in live if one._process == os.getpid()]:
        if failed:
            context.abandon(reason_of(sys.last_value))
            continue
        is_known = context._has_failed
        try:
            context.finalize()
        except Error as error:
            if is_known:  # the program had the error, and has chosen its status
                continue
            # Python ignores an exception here and ends with status 0, which the launcher would take for success.
            sys.stdout.flush()
            print(f"ddl: {error}", file=sys.stderr, flush=True)
            os._exit(1)


atexit.register(end_at_exit)
