#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""judge.py HOME STATUS ALIVE: what a row of fault_matrix.sh left in the hosts' shared home, one finding a line:
"lost ...", "half ..." (written) or "left ..." (behind). STATUS is the exit status of the launch; ALIVE is 1 if ddlrun
itself was not killed and could write, so that the record of its run must have an end."""
import glob
import json
import os
import sys


def judge_file(path):
    name = os.path.basename(path)
    if ".tmp" in name or name.endswith(".part"):
        yield f"left {path}"
        return
    try:
        if name.endswith(".json"):
            with open(path, encoding="utf-8") as file:
                json.load(file)
        elif name.endswith(".jsonl"):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    json.loads(line)
    except ValueError as error:
        yield f"half {path}: {error}"


def judge_run(directory, status, alive, ran):
    if os.path.exists(directory + "/directory"):
        return  # the run lies elsewhere
    try:
        with open(directory + "/run.json", encoding="utf-8") as file:
            end = json.load(file)["end"]
    except FileNotFoundError:
        if ran:
            yield f"lost {directory}: ranks ran, and no run.json"
        return
    except ValueError:
        return  # judge_file reports it
    if alive and end is None:
        yield f"lost {directory}: run.json has no end"
    if alive and end is not None and end["exit_status"] not in (status, 127):
        yield f"lost {directory}: run.json has status {end['exit_status']}, the command {status}"


def main():
    home, status, alive = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1"
    findings = []
    for directory, _, names in os.walk(home):
        for name in names:
            findings += judge_file(os.path.join(directory, name))
    ran = bool(glob.glob(home + "/ran-*"))
    for directory in glob.glob(home + "/.local/state/ddlrun/runs/*") + glob.glob(home + "/disk/run"):
        findings += judge_run(directory, status, alive, ran)
    print("\n".join(findings))


main()
