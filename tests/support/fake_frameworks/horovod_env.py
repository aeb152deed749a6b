#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Horovod's core reads at hvd.init(), in horovod/common: utils/env_parser.cc (switches are strtol > 0, the controller
is MPI or Gloo in any case), operations.cc (fusion by strtol, 128 MiB; cycle by strtof, 1 ms; the timeline),
gloo/gloo_context.cc (HOROVOD_RANK and its kin), common.cc (parse_and_set_affinity: a core for each local rank),
logging.cc. It stops at none but an unknown controller: strtol takes "64MB" for 64 and "yes" for 0, too few cores are an
error in the log, an unknown level is WARNING. Here all that fails."""
import os
import re
import sys


def number(name, default):
    text = os.environ.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"-?\d+", text):
        sys.exit(f"{name}={text}: strtol would read something else")
    return int(text)


def switch(name):
    return number(name, 0) > 0


for name in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE"):
    if number("HOROVOD_" + name, -1) != int(os.environ["OMPI_COMM_WORLD_" + name]):
        sys.exit(f"HOROVOD_{name} is not what MPI says")
local, peers = number("HOROVOD_LOCAL_RANK", 0), number("HOROVOD_LOCAL_SIZE", 1)
if not 0 <= number("HOROVOD_CROSS_RANK", -1) < number("HOROVOD_CROSS_SIZE", 0):
    sys.exit("HOROVOD_CROSS_RANK")
controller = os.environ.get("HOROVOD_CONTROLLER", "mpi").lower()
if controller == "gloo" and "HOROVOD_GLOO_RENDEZVOUS_ADDR" not in os.environ:
    sys.exit("no rendezvous server provided, assuming single process execution")
if controller not in ("mpi", "gloo"):
    sys.exit("Unsupported controller type, only MPI and Gloo are supported")
affinity = os.environ.get("HOROVOD_THREAD_AFFINITY")
if affinity is not None and len([int(core) for core in affinity.split(",")]) < peers:
    sys.exit(f"Expected {peers} core ids in HOROVOD_THREAD_AFFINITY={affinity}")
float(os.environ.get("HOROVOD_CYCLE_TIME", "1"))
level = os.environ.get("HOROVOD_LOG_LEVEL", "warning").lower()  # logging.cc, ParseLogLevelStr
if level not in ("trace", "debug", "info", "warning", "error", "fatal"):
    sys.exit(f"HOROVOD_LOG_LEVEL={level}")
if number("HOROVOD_RANK", 0) == 0:
    print(f"fusion {number('HOROVOD_FUSION_THRESHOLD', 134217728)} cycle {os.environ.get('HOROVOD_CYCLE_TIME', '1')} "
          f"autotune {switch('HOROVOD_AUTOTUNE')} stall {not switch('HOROVOD_STALL_CHECK_DISABLE')} "
          f"timeline {os.environ.get('HOROVOD_TIMELINE')}")
