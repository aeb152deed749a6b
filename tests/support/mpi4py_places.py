# SPDX-License-Identifier: MIT
"""mpi4py: each rank's place as MPI and the kernel tell it, gathered by rank 0, which prints them as JSON."""
import json
import os
import socket
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
host = world.Split_type(MPI.COMM_TYPE_SHARED)
total = array("q", [0])
world.Allreduce(array("q", [10**rank]), total)  # a digit for each rank: none is counted twice or left out
places = world.gather({
    "rank": rank,
    "host": socket.gethostname(),
    "local_rank": host.Get_rank(),
    "local_size": host.Get_size(),
    "pus": sorted(os.sched_getaffinity(0)),
    "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
}, root=0)
digits = world.bcast(str(total[0]) if rank == 0 else None, root=0)
if rank == 0:
    print(json.dumps({"size": world.Get_size(), "sum": digits, "places": places}))
