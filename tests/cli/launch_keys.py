#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`ddlrun launch` at a terminal: what is typed reaches rank 0, and after Ctrl-C the ranks have time to save.

mpirun leaves its ranks 1 s after a Ctrl-C of its own (Open MPI 4.1); this rank takes 3 s.
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DDLRUN_SOURCE_DIR"], "tests", "support"))
from pty_program import PtyProgram  # noqa: E402

if shutil.which("mpirun") is None:
    print("skipped: no mpirun; apt-get install openmpi-bin")
    sys.exit(125)
work = tempfile.mkdtemp()
os.environ.update({"XDG_STATE_HOME": f"{work}/state", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
RANK = f"""trap 'sleep 3; : > {work}/saved; exit 75' TERM
echo ready; read -r line; echo "got $line"; while :; do sleep 0.1; done"""
failures = 0


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
        print(f"FAILED {what}: {found}")


terminal = PtyProgram([os.environ["DDLRUN"], "launch", "1", "-q", "--", "sh", "-c", RANK])
check("the start", terminal.shows(b"ready"), terminal.bytes)
terminal.type(b"some words\n")
check("what is typed", terminal.shows(b"got some words"), terminal.bytes)
terminal.type(b"\x03")
ended = terminal.end(seconds=60)
status = None if ended is None else os.waitstatus_to_exitcode(ended)
check("the status after Ctrl-C", status == 75, f"{status}: {terminal.bytes}")
check("saved after Ctrl-C", os.path.exists(f"{work}/saved"), terminal.bytes)
shutil.rmtree(work)
sys.exit(1 if failures else 0)
