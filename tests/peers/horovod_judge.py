# SPDX-License-Identifier: MIT
"""Compares what horovod_train.py left under horovodrun (mpi, gloo) and launch (run): horovod_judge.py HOME."""
import json
import os
import sys

home, wrong = sys.argv[1], []


def read(directory):
    ranks = []
    for rank in range(len(os.listdir(f"{home}/{directory}"))):
        with open(f"{home}/{directory}/{rank}.json") as file:
            ranks.append(json.load(file))
    return ranks


def same(what, expected, found):
    if expected != found:
        wrong.append(f"{what}: expected {expected}, found {found}")


mpi, gloo, run = (read(one) for one in ("mpi", "gloo", "run"))
for name, ranks in (("gloo", gloo), ("run", run)):
    same(f"{name}: places", [one["place"] for one in mpi], [one["place"] for one in ranks])
    for one, other in zip(mpi, ranks):
        if any(abs(a - b) > 1e-5 * a for a, b in zip(one["losses"], other["losses"])):
            wrong.append(f"{name}: losses {other['losses']}, by horovodrun with MPI {one['losses']}")
for rank, one in enumerate(run):
    for name, value in {"FUSION_THRESHOLD": str(32 << 20), "CYCLE_TIME": "2", "AUTOTUNE": "1", "CONTROLLER": "mpi"}.items():
        same(f"rank {rank}: {name}", value, one["variables"].get(f"HOROVOD_{name}"))
    for name, value in one["place"].items():
        if name != "host":
            same(f"rank {rank}: HOROVOD_{name.upper()}", str(value), one["variables"].get(f"HOROVOD_{name.upper()}"))
with open(f"{home}/timeline.json") as file:
    if "NEGOTIATE_ALLREDUCE" not in file.read():
        wrong.append("the timeline has no allreduce")
with open(f"{home}/autotune.csv") as file:
    if "cycle_time" not in file.readline():
        wrong.append("the log of autotune has no head")
if not run[0]["losses"][-1] < 0.8 * run[0]["losses"][0]:
    wrong.append(f"the loss does not fall: {run[0]['losses']}")
print("\n".join(wrong) or f"loss {run[0]['losses'][0]:.6f} to {run[0]['losses'][-1]:.6f}, as by horovodrun")
sys.exit(len(wrong) > 0)
