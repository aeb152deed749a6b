#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums of libddl and of mpi4py in one program. With the argument context_first the Context initializes MPI."""
import sys

import numpy

import ddl


def check(context, MPI, level):
    world = MPI.COMM_WORLD
    assert MPI.Query_thread() == level, MPI.Query_thread()
    assert (world.rank, world.size) == (context.rank, context.size)
    ours = numpy.arange(5000, dtype=numpy.float64) * (context.rank + 1)
    theirs = ours.copy()
    expected = numpy.arange(5000) * sum(range(1, context.size + 1))
    context.all_reduce(ours, "sum")
    world.Allreduce(MPI.IN_PLACE, theirs)
    assert (ours == expected).all() and (theirs == expected).all()
    if level == MPI.THREAD_MULTIPLE:  # a call of MPI beside a started sum
        sum_under_way = context.start_all_reduce(ours, "max")
        assert world.allreduce(1) == world.size
        sum_under_way.wait()
        assert (ours == expected).all()
    print("the same ranks and sums", flush=True)


if "context_first" in sys.argv:
    with ddl.Context() as context:
        from mpi4py import MPI

        check(context, MPI, MPI.THREAD_SERIALIZED)
else:
    from mpi4py import MPI

    with ddl.Context() as context:
        check(context, MPI, MPI.THREAD_MULTIPLE)
