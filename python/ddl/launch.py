# SPDX-License-Identifier: MIT
"""Which rank this process is, from the launcher's variables alone: no MPI, no libddl, before ddl.init() too.

Under ddlrun, Open MPI, hydra (MPICH, Intel MPI), srun and torchrun. A process that none of them started is rank 0 of 1.
"""
import os
from typing import NamedTuple, Optional


class Place(NamedTuple):
    launcher: str  # "" without one
    rank: int
    size: int
    local_rank: Optional[int]  # among the ranks of this host; None where the launcher sets no such variable
    local_size: Optional[int]
    hosts: Optional[int]


# launcher: the variables of rank, size, local rank, local size and hosts. The nearest launcher comes first: torchrun may run
# inside each of them, libddl takes DDL_MASTER before MPI, ddlrun starts the others, mpirun may run inside a Slurm job.
VARIABLES = {
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE"),
    "tcp": ("DDL_RANK", "DDL_SIZE", "", "", ""),
    "ddlrun": ("DDLRUN_RANK", "DDLRUN_SIZE", "DDLRUN_LOCAL_RANK", "DDLRUN_LOCAL_SIZE", "DDLRUN_NODE_COUNT"),
    "openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                "OMPI_COMM_WORLD_LOCAL_SIZE", ""),
    "hydra": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ""),
    # A job script has SLURM_PROCID and SLURM_NTASKS too; only srun sets those of a step.
    "srun": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "", "SLURM_STEP_NUM_NODES"),
}
# Without this one, another program has set the variables above.
REQUIRED = {"torchrun": "TORCHELASTIC_RUN_ID", "tcp": "DDL_MASTER", "hydra": "MPI_LOCALRANKID"}


def number_in(environment, name):
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None


def place_of(environment):
    """Pure: the place in `environment`."""
    found = None
    for launcher, names in VARIABLES.items():
        rank, size, local_rank, local_size, hosts = (number_in(environment, name) for name in names)
        if rank is None or size is None or not rank < size or not environment.get(REQUIRED.get(launcher, names[0])):
            continue
        this = Place(launcher, rank, size, local_rank, local_size, hosts)
        if found is None:
            found = this
        elif (this.rank, this.size) == (found.rank, found.size):  # the same ranks, as another launcher describes them
            found = found._replace(**{name: value for name, value in this._asdict().items() if getattr(found, name) is None})
    return found or Place("", 0, 1, 0, 1, 1)


def place():
    """All of the place at once: launcher, rank, size, local_rank, local_size, hosts."""
    return place_of(os.environ)


def rank():
    return place().rank


def size():
    return place().size


def local_rank():
    return place().local_rank


def local_size():
    return place().local_size


def hosts():
    """The number of hosts; None where the launcher sets no such variable, as mpirun."""
    return place().hosts
