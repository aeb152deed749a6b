# SPDX-License-Identifier: MIT
"""Compares what keras_train.py left under ddlrun and by hand: keras_judge.py RUN HAND TOLERANCE, that of the losses
and the accuracy; of the last loss, where updates of parameter servers come in any order. Prints what differs."""
import glob
import json
import os
import sys


def read(directory):
    tasks = {}
    for name in sorted(glob.glob(f"{directory}/*.json")):
        with open(name) as file:
            tasks[os.path.basename(name)[:-5]] = json.load(file)
    return tasks


run, hand, tolerance = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
wrong, results = [], []


def same(what, expected, found):
    if expected != found:
        wrong.append(f"{what}: by hand {expected}, by ddlrun {found}")


same("tasks", list(hand), list(run))
for name, one in run.items():
    other = hand.get(name, {})
    for what in ("host", "cluster", "cpus", "variables", "replicas"):
        same(f"{name}: {what}", other.get(what), one.get(what))
    if "losses" in one:
        results.append(f"{name}: loss {one['losses'][0]:.6f} to {one['losses'][-1]:.6f}, accuracy {one['accuracy']:.3f}")
        first = -1 if name.startswith("chief") else 0
        pairs = zip(one["losses"][first:] + [one["accuracy"]], other["losses"][first:] + [other["accuracy"]])
        if any(abs(found - expected) > tolerance for found, expected in pairs):
            wrong.append(f"{name}: by hand {other['losses']}, {other['accuracy']}; by ddlrun {one['losses']}, {one['accuracy']}")
        if one["accuracy"] < 0.6:
            wrong.append(f"{name}: accuracy {one['accuracy']}")
if not results:
    wrong.append("no task has trained")
print("\n".join(wrong) or f"TensorFlow {next(iter(run.values()))['version']}, {len(run)} tasks as by hand; {results[0]}")
sys.exit(len(wrong) > 0)
