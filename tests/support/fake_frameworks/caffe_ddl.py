#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""IBM's Caffe with DDL, as its logs in the founding documents show it: gflags (-flag value, --flag=value; an unknown
flag ends it), `train`, GPUs spread by local rank, DDL's option string as IBM's README of DDL lists it. DDL numbers
ranks by its dims: their product has to be MPI's size, X the ranks of a host."""
import os
import re
import sys

# tools/caffe.cpp of BVLC's Caffe; -ddl, -lms and -bvlc are IBM's.
KNOWN = {"solver", "gpu", "snapshot", "weights", "iterations", "model", "phase", "level", "stage", "sigint_effect",
         "sighup_effect", "ddl", "lms"}
SWITCHES = {"bvlc"}
flags, verbs, words = {}, [], sys.argv[1:]
while words:
    word = words.pop(0)
    if not word.startswith("-"):
        verbs.append(word)
        continue
    name, equals, value = word.lstrip("-").partition("=")
    if name in SWITCHES:
        flags[name] = "true"
        continue
    if name not in KNOWN:
        sys.exit(f"ERROR: unknown command line flag '{name}'")
    if not equals:
        if not words:
            sys.exit(f"ERROR: flag '{name}' is missing its argument")
        value = words.pop(0)
    flags[name] = value
if verbs != ["train"] or "solver" not in flags:
    sys.exit("usage: caffe train --solver=FILE")
if "snapshot" in flags and "weights" in flags:
    sys.exit("Give a snapshot to resume training or weights to finetune but not both.")
rank, size = (int(os.environ["OMPI_COMM_WORLD_" + name]) for name in ("RANK", "SIZE"))
local, peers = (int(os.environ["OMPI_COMM_WORLD_LOCAL_" + name]) for name in ("RANK", "SIZE"))
options = flags.get("ddl", os.environ.get("DDL_OPTIONS", ""))
mode = re.search(r"-mode ([bnrpmc]):(\d+)x(\d+)x(\d+)(?:x(\d+))?(?:\s|$)", options)
if not mode:
    sys.exit(f"DDL: no mode in '{options}'")
dims = [int(one or 1) for one in mode.groups()[1:]]
if dims[0] * dims[1] * dims[2] * dims[3] != size:
    sys.exit(f"DDL: dims {dims} are not {size} ranks")
if dims[0] != peers:
    sys.exit(f"DDL: X is {dims[0]}, this host has {peers} ranks")
if rank // (size // dims[0]) != local:
    sys.exit(f"DDL: rank {rank} should be learner {rank // (size // dims[0])} of its host, it is {local}")
if flags.get("gpu", "0") == "all" and peers > 1:
    sys.exit("DDL: every rank would use every GPU")
print(f"[MPI:{rank}] spreading GPUs per MPI rank: gpu[{local}] on {os.environ.get('FAKE_HOST', 'here')}")
