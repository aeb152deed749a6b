# SPDX-License-Identifier: MIT
"""The job of work_torch.py and work_horovod.py, as work_mpi.c has it: steps of an allreduce until the seconds in the file "plan"
are over; the rank named there hangs after 2 s. Each rank writes its host and process to places/RANK."""
import os
import socket
import time

import torch


def run(rank, size, least):
    home = os.path.expanduser("~")
    with open(f"{home}/plan") as file:
        seconds, hanging = file.read().split()
    with open(f"{home}/places/{rank}", "w") as file:
        file.write(f"{socket.gethostname()} {os.getpid()}\n")
    begun = time.monotonic()
    go = True
    while go:
        time.sleep(0.1)
        while rank == int(hanging) and time.monotonic() - begun > 2:
            time.sleep(3600)
        go = least(torch.tensor([float(time.monotonic() - begun < float(seconds))])).item() > 0
    if rank == 0:
        print(f"{size} ranks have ended well", flush=True)
