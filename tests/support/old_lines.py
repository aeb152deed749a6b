#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a line of the founding documents starts, beside what ddlrun starts for it.
  old_lines.py record FILE NAME WORDS...   stands in for a program: appends its words and environment to FILE
  old_lines.py judge OLD NEW [option=value ...]
OLD holds what the old line called: one of STARTERS, or the programs themselves. NEW holds what each rank of ddlrun's
called. The programs must be as many, with the same words, hosts where the old line says them, and every exported
variable with its value. Options: ranks=N where the old line leaves it to others; rankfile=FILE, the one that it names;
passed=NAME,...: variables that its programs inherit."""
import json
import os
import re
import sys

TAKES = {"-n": 1, "-np": 1, "-rf": 1, "-x": 1, "-H": 1, "-f": 1, "-ppn": 1, "--hostfile": 1, "-bind-to": 1,
         "-PSM2": 0, "-prepend-rank": 0}
STARTERS = ("mpirun", "mpiexec.hydra", "horovodrun")


def record(path, name, *words):
    with open(path, "a") as file:
        file.write(json.dumps({"argv": [name, *words], "env": dict(os.environ)}) + "\n")


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def rankfile_hosts(path):
    with open(path) as file:
        return {int(rank): host for rank, host in re.findall(r"^rank (\d+)=(\S+)", file.read(), re.M)}


def of_starter(call, options):
    """What mpirun, hydra or horovodrun was started with: [(words, host or None)] by rank, names exported."""
    words, values, names = call["argv"][1:], {}, []
    while words[0] in TAKES:
        flag, words = words[0], words[1:]
        taken, words = words[:TAKES[flag]], words[TAKES[flag]:]
        if flag == "-x":
            names += taken
        else:
            values[flag] = taken
    ranks = int((values.get("-n") or values.get("-np") or [options.get("ranks")])[0])
    hosts = {}
    if "rankfile" in options:
        hosts = rankfile_hosts(options["rankfile"])
        if sorted(hosts) != list(range(ranks)):
            sys.exit(f"the old rankfile is for {sorted(hosts)}, -n says {ranks}")
    # hydra fills host after host with -ppn ranks; mpirun with the slots of each line.
    for file in values.get("-f", []) + values.get("--hostfile", []):
        with open(file) as lines:
            for line in lines:
                host, slots = re.match(r"(\S+?)(?::\d+)?(?:\s+slots=(\d+))?\s*$", line).groups()
                for _ in range(int(values["-ppn"][0] if "-ppn" in values else slots)):
                    hosts[len(hosts)] = host
    for spec in values.get("-H", [""])[0].split(",") if "-H" in values else []:
        host, count = spec.split(":")
        for _ in range(int(count)):
            hosts[len(hosts)] = host
    return [(words, hosts.get(rank)) for rank in range(ranks)], names


def judge(old_path, new_path, *settings):
    options = dict(setting.split("=", 1) for setting in settings)
    old, new = read(old_path), read(new_path)
    names = [name for name in options.get("passed", "").split(",") if name]
    if old[0]["argv"][0] in STARTERS:
        wanted, more = of_starter(old[0], options)
        names += more
    else:
        wanted = [(call["argv"], None) for call in old]
    new.sort(key=lambda call: int(call["env"]["OMPI_COMM_WORLD_RANK"]))
    if len(new) != len(wanted):
        sys.exit(f"{len(new)} ranks, the old line starts {len(wanted)}")
    for rank, (call, (words, host)) in enumerate(zip(new, wanted)):
        if call["argv"] != words:
            sys.exit(f"rank {rank} runs  {call['argv']}\n  of old: {words}")
        if host is not None and call["env"]["FAKE_HOST"] != host:
            sys.exit(f"rank {rank} is on {call['env']['FAKE_HOST']}, of old on {host}")
        for name in names:
            before = old[min(rank, len(old) - 1)]["env"].get(name)
            if call["env"].get(name) != before:
                sys.exit(f"rank {rank}: {name}={call['env'].get(name)}, of old {before}")


if __name__ == "__main__":
    {"record": record, "judge": judge}[sys.argv[1]](*sys.argv[2:])
