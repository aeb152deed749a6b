#!/bin/bash
# SPDX-License-Identifier: MIT
# diagnose beside `LC_ALL=C grep -F -f` with the same fixed texts, on the same log of 1 GB: seconds, MB/s, peak
# memory, ratio of the best times. usage: bench/diagnose_grep.sh build/release [LOG]
set -eu
build=$(readlink -f "${1:?usage: diagnose_grep.sh BUILD [LOG]}")
log=${2:-}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
if [ -z "$log" ]; then
  log=$work/log
  python3 - "$log" <<'END'
import random, sys
random.seed(1)
lines = []
for i in range(20000):
    rank, kind = random.randrange(64), random.random()
    if kind < 0.55:
        line = (f"[1,{rank}]<stdout>:epoch {i % 90} step {i * 37 % 100000} loss {random.random() * 7:.4f} lr 0.{random.randrange(10**6):06d}"
                f" images/s {random.randrange(2000)} gpu_mem {random.randrange(32000)}MiB data_time {random.random():.3f}")
    elif kind < 0.75:
        line = (f"[1,{rank}]<stderr>:node{rank // 4:02d}:{1000 + rank}:{2000 + rank} [{rank % 4}] NCCL INFO Channel 0{rank % 8} :"
                f" {rank}[{rank % 4}] -> {(rank + 1) % 64}[{(rank + 1) % 4}] via P2P/IPC")
    elif kind < 0.9:
        line = (f"2026-11-21 06:{i % 60:02d}:{i % 59:02d},{i % 1000:03d} INFO trainer.py:{i % 400} rank {rank}: validation accuracy"
                f" {random.random():.4f}, checkpoint saved to /scratch/user/run{i % 7}/ckpt-{i}.pt")
    elif kind < 0.98:
        line = (f"[1,{rank}]<stderr>:I1121 06:{i % 60:02d}:{i % 59:02d}.{i % 1000000:06d} {1000 + rank} solver.cpp:239] Iteration {i}"
                f" ({random.random() * 9:.3f} iter/s, 12.8s/40 iters), loss = {random.random():.5f}")
    else:
        line = (f"[1,{rank}]<stderr>:/usr/lib/python3/dist-packages/torch/nn/functional.py:718: UserWarning: Named tensors and all"
                " their associated APIs are an experimental feature and subject to change.")
    lines.append(line)
block = "\n".join(lines) + "\n"
with open(sys.argv[1], "w") as out:
    size = 0
    while size < 10**9:
        out.write(block)
        size += len(block)
    out.write("mpirun noticed that process rank 3 with PID 77 on node node00 exited on signal 9 (Killed).\n")
END
fi
# The fixed texts of all patterns, the longest of each line, as diagnose looks for them.
"$build/bin/ddlrun" diagnose --list --json | python3 -c '
import json, re, sys
for signature in json.load(sys.stdin)["signatures"]:
    for pattern in signature["match"]:
        print(max(re.split(r"\{[^}]*\}", pattern[0]), key=len))' | sort -u >"$work/anchors"
python3 - "$build/bin/ddlrun" "$log" "$work/anchors" <<'END'
import os, subprocess, sys, time
tool, log, anchors = sys.argv[1:]
size = os.path.getsize(log)
print(f"{size / 1e6:.0f} MB, {sum(1 for _ in open(anchors))} fixed texts")
commands = {"grep -F -f": ["grep", "-c", "-F", "-f", anchors, log], "ddlrun diagnose": [tool, "diagnose", log]}


def peak_of(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return max((int(line.split()[1]) for line in status if line.startswith("VmHWM")), default=0)
    except OSError:
        return 0


def run(command):
    start, peak = time.monotonic(), 0
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    while True:
        pid, _, usage = os.wait4(child.pid, os.WNOHANG)
        if pid != 0:
            return time.monotonic() - start, usage.ru_utime + usage.ru_stime, peak
        peak = max(peak, peak_of(child.pid))
        time.sleep(0.01)


best = {}
for _ in range(5):
    for name, command in commands.items():
        result = run(command)
        best[name] = min(best.get(name, result), result)
for name, (seconds, cpu, peak) in best.items():
    print(f"{name:<16} {seconds:6.2f} s {size / seconds / 1e6:7.0f} MB/s  cpu {cpu:5.2f} s  peak {peak / 1024:5.1f} MiB")
wall = best["grep -F -f"][0] / best["ddlrun diagnose"][0]
cpu = best["grep -F -f"][1] / best["ddlrun diagnose"][1]
print(f"diagnose is {wall:.2f} times as fast as grep ({cpu:.2f} by processor time)")
END
