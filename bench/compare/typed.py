# SPDX-License-Identifier: MIT
"""typed.py LIMIT COMMAND...: types the command in a terminal of its own, below a shell, and prints what the terminal shows; presses
ctrl-C after LIMIT seconds, twice 10 s later, ends the shell's session 20 s later. Exits with the status of the command."""
import os
import pty
import select
import signal
import sys
import time

limit, command = float(sys.argv[1]), sys.argv[2:]
shell, terminal = pty.fork()
if shell == 0:  # the command is a job of its own; what it leaves behind gets no signal from the end of this shell
    for one in (signal.SIGINT, signal.SIGQUIT):  # a shell's background jobs ignore both, and hand that on
        signal.signal(one, signal.SIG_DFL)
    os.execvp("bash", ["bash", "-c", '. ~/.bashrc; set -m; "$@"', "bash", *command])
begun, presses = time.monotonic(), [limit, limit + 10, limit + 10.5]  # srun ends after two within a second
while True:
    if select.select([terminal], [], [], 0.2)[0]:
        try:
            shown = os.read(terminal, 65536)
        except OSError:  # EIO: the terminal is closed
            break
        os.write(1, shown.replace(b"\r\n", b"\n"))
    elif os.waitid(os.P_PID, shell, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        break
    passed = time.monotonic() - begun
    if presses and passed > presses[0]:
        presses.pop(0)
        os.write(terminal, b"\x03")
    if passed > limit + 20:
        os.killpg(os.tcgetpgrp(terminal), signal.SIGKILL)
        os.kill(shell, signal.SIGKILL)
        break
status = os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
