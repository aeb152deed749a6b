# SPDX-License-Identifier: MIT
"""ends.py WAY: the last rank ends in this way while the others wait for it. They print what they get."""
import array
import os
import sys
import time

import ddl

way = sys.argv[1]
context = ddl.init("-timeout 20")
rank, last = context.rank, context.size - 1


def raise_late():
    raise ValueError("a fault of the program")


def others_wait():
    if rank == last:
        return
    begun = time.monotonic()
    try:
        context.barrier()
    except ddl.LostError as error:
        print(f"{type(error).__name__} after {'a moment' if time.monotonic() - begun < 5 else 'long'}: {error}", flush=True)
    sys.exit(7)


def one_more_on_the_last():
    return array.array("f", [1] * (2 if rank == last else 1))


if way == "exception":
    others_wait()
    raise_late()
elif way == "caught":  # the program of the last rank goes on, and the others need not wait for its end
    if rank == last:
        try:
            with context:
                raise_late()
        except ValueError:
            time.sleep(8)
        sys.exit(7)
    others_wait()
elif way == "exit":
    others_wait()
    sys.exit(3)
elif way == "mismatch":
    try:
        context.all_reduce(one_more_on_the_last(), "sum")
    except ddl.MismatchError as error:
        print(f"MismatchError: {error}", flush=True)
        try:
            context.barrier()
        except ddl.MismatchError:
            raise error from None
elif way == "started":  # the error of a sum without a wait() is no success
    context.start_all_reduce(one_more_on_the_last(), "sum")
elif way == "with":
    with context:
        context.barrier()
        if rank == last:
            sys.exit(0)
elif way == "fork":  # a child is no rank
    child = os.fork()
    if child == 0:
        try:
            context.barrier()
        except ddl.UsageError as error:
            print(error, flush=True)
        sys.exit(0)
    os.waitpid(child, 0)
    context.barrier()
elif way == "ended":
    context.finalize()
    context.finalize()
    try:
        context.rank
    except ddl.UsageError as error:
        print(error, flush=True)
else:  # nothing: the Context ends by itself
    context.all_reduce(1, "sum")
