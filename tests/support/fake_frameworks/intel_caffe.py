#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Intel Caffe's environment as its parts read it: MLSL (intel/MLSL, src/comm_ep.cpp: MLSL_ROOT has to be set,
MLSL_NUM_SERVERS is 0 to 16; eplib/env.c: MLSL_SERVER_AFFINITY is numbers between commas, of "6-9" it would take the 6,
and ranks of a host share cores where it names too few). From the manuals, as remembered: Intel's OpenMP (KMP_AFFINITY:
proclist=[..] with `explicit`, as many processors as OMP_NUM_THREADS) and Intel MPI (I_MPI_FABRICS with what each fabric
needs). Threads of OpenMP and servers on one core are what the script's proclist is there to avoid."""
import os
import re
import sys


def cores_of(text):
    cores = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        cores.extend(range(int(first), int(last or first) + 1))
    return cores


if sys.argv[1:3] != ["train", "--solver"] or not os.path.exists(sys.argv[3]):
    sys.exit("usage: caffe train --solver FILE")
environment = os.environ
peers, size = int(environment["OMPI_COMM_WORLD_LOCAL_SIZE"]), int(environment["OMPI_COMM_WORLD_SIZE"])
threads = int(environment["OMP_NUM_THREADS"])
servers = int(environment["MLSL_NUM_SERVERS"])
if not 0 <= servers <= 16:
    sys.exit("MLSL_NUM_SERVERS")
if not environment.get("MLSL_ROOT"):
    sys.exit("specify MLSL_ROOT")
sending = [int(core) for core in environment["MLSL_SERVER_AFFINITY"].split(",")] if servers else []
if len(sending) != servers * peers or len(set(sending)) != len(sending):
    sys.exit(f"{len(sending)} cores for {servers} servers of {peers} ranks")
affinity = environment["KMP_AFFINITY"]
listed = re.search(r"proclist=\[([0-9,-]+)\]", affinity)
if listed:
    if not affinity.endswith(",explicit"):
        sys.exit("KMP_AFFINITY: a proclist needs the type explicit")
    computing = cores_of(listed[1])
    if len(computing) != threads or set(computing) & set(sending):
        sys.exit(f"{threads} threads on {computing}, servers on {sending}")
elif not re.fullmatch(r"granularity=(fine|thread|core),compact,\d+,\d+", affinity):
    sys.exit(f"KMP_AFFINITY={affinity}")
if environment["KMP_HW_SUBSET"] != "1t" or environment["I_MPI_FALLBACK"] != "0":
    sys.exit("KMP_HW_SUBSET or I_MPI_FALLBACK")
fabrics = environment["I_MPI_FABRICS"]
if fabrics == "shm:tmi" and environment["I_MPI_TMI_PROVIDER"] != "psm2":
    sys.exit("I_MPI_TMI_PROVIDER")
if fabrics == "shm:tcp" and not environment["I_MPI_TCP_NETMASK"]:
    sys.exit("I_MPI_TCP_NETMASK")
if fabrics not in ("shm:tmi", "shm:tcp"):
    sys.exit(f"I_MPI_FABRICS={fabrics}")
domain = environment["I_MPI_PIN_DOMAIN"]
if peers > 1 and len(domain.strip("[]").split(",")) != peers:
    sys.exit(f"{peers} ranks, I_MPI_PIN_DOMAIN={domain}")
print(f"rank {environment['OMPI_COMM_WORLD_RANK']} of {size}: {threads} threads, servers on {sending}")
