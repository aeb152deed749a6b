# SPDX-License-Identifier: MIT
"""Judges what torch_hosts.py left on 2 hosts of 2 ranks: torch_judge.py RUN ALONE TORCHRUN. ALONE is one process that
trained on the whole batch, TORCHRUN what torchrun gave its ranks on the same hosts. Prints what is wrong."""
import json
import math
import sys


def read(directory, rank):
    with open(f"{directory}/{rank}.json") as file:
        return json.load(file)


wrong = []


def same(what, expected, found):
    if expected != found:
        wrong.append(f"{what}: expected {expected}, found {found}")


def close(what, expected, found):
    same(f"{what}: how many", len(expected), len(found))
    for index, (one, other) in enumerate(zip(expected, found)):
        if not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12):
            wrong.append(f"{what} {index}: expected {one!r}, found {other!r}")
            return


ranks = [read(sys.argv[1], rank) for rank in range(4)]
alone = read(sys.argv[2], 0)
same("hosts", ["node1", "node1", "node2", "node2"], [one["host"] for one in ranks])
same("sizes", [4] * 4, [one["size"] for one in ranks])
for rank, one in enumerate(ranks):
    same(f"rank {rank}: threads", 1, one["threads"])
    same(f"rank {rank}: curve", ranks[0]["curve"], one["curve"])
    same(f"rank {rank}: weights", ranks[0]["weights"], one["weights"])
    # What torchrun reports the rank of that host and local rank; its port is its own, its agent and NCCL's way are not ours.
    theirs = read(sys.argv[3], rank)
    for name, value in theirs["given"].items():
        if not name.startswith(("TORCHELASTIC_", "NCCL_", "TORCH_NCCL_")) and name != "MASTER_PORT":
            same(f"rank {rank}: {name}", value, one["environment"].get(name))
same("CPUs that two ranks of a host share", [[], []], [sorted(set(ranks[a]["pus"]) & set(ranks[a + 1]["pus"])) for a in (0, 2)])
same("all rows were seen once", sorted(alone["rows"]), sorted(row for one in ranks for row in one["rows"]))
close("curve of one process on the whole batch", alone["curve"], ranks[0]["curve"])
close("weights of one process on the whole batch", alone["weights"], ranks[0]["weights"])
if not alone["curve"][-1] < 0.2 * alone["curve"][0]:
    wrong.append(f"the loss does not fall: {alone['curve'][0]} to {alone['curve'][-1]}")
print("\n".join(wrong) or f"loss {ranks[0]['curve'][0]:.6f} to {ranks[0]['curve'][-1]:.6f}, as one process")
sys.exit(len(wrong) > 0)
