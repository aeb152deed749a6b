#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `ddlrun top` on a terminal of its own, as a user sees it: sizes, keys, signals, suspension, resizing.

top_screen.py DDLRUN RUN RANKS: a run that goes on. Prints what is wrong; exit status 0 or 1.
"""
import fcntl
import os
import re
import signal
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.environ["DDLRUN_SOURCE_DIR"], "tests", "support"))
from pty_program import PtyProgram  # noqa: E402

DDLRUN, RUN, RANKS = sys.argv[1], sys.argv[2], int(sys.argv[3])
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
faults = 0


def check(what, good, found=""):
    global faults
    if not good:
        faults += 1
        print(f"FAILED {what}: {found}")


class Screen(PtyProgram):
    """A child on a terminal, and the last picture that it drew."""

    def __init__(self, columns, rows, arguments=(), words=None, **variables):
        command = words or [DDLRUN, "top", *arguments, RUN]
        super().__init__(command, {"TERM": "xterm", **variables}, wait=0.2)
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.fd)

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def lines(self):
        """The last whole picture, without colours."""
        pictures = [p for p in self.bytes.split(b"\x1b[H") if p.endswith(b"\x1b[J") or b"\x1b[J" in p]
        if not pictures:
            return []
        text = pictures[-1].split(b"\x1b[J")[0].decode()
        return [re.sub(r"\x1b\[[0-9;]*[mK]", "", line).rstrip("\r") for line in text.split("\n")]

    def drawn(self):
        return self.bytes.count(b"\x1b[J")

    def restored(self, what):
        # Line by line and with echo again, on the screen that was there before.
        check(f"{what}: the modes of the terminal", termios.tcgetattr(self.fd) == self.modes)
        check(f"{what}: the screen", self.bytes.rfind(LEAVE) > self.bytes.rfind(ENTER))
        check(f"{what}: the cursor", self.bytes.rfind(b"\x1b[?25h") > self.bytes.rfind(b"\x1b[?25l"))


def is_raw(screen):
    return not termios.tcgetattr(screen.fd)[3] & (termios.ICANON | termios.ECHO)


def shows_ranks(screen):
    return any(re.match(r" +\d+  \S+ .* (running|waiting)", line) for line in screen.lines())


for columns, rows in ((80, 24), (200, 50)):
    screen = Screen(columns, rows)
    check(f"{columns} columns: ranks", screen.wait_for(lambda: shows_ranks(screen)), screen.bytes[-400:])
    lines = screen.lines()
    check(f"{columns} columns: the keys are below", len(lines) == rows and lines[-1].startswith("q quit"), lines)
    check(f"{columns} columns: width", max(map(len, lines)) <= columns, lines)
    check(f"{columns} columns: READ+WRITE", ("READ+WRITE" in "\n".join(lines)) == (columns >= 100), lines)
    rows_shown = [line for line in lines if re.match(r" +\d+  ", line)]
    check(f"{columns} columns: all ranks", len(rows_shown) == RANKS, lines)
    check(f"{columns} columns: no echo", is_raw(screen))
    drawn = screen.drawn()
    screen.read(4.5)
    check(f"{columns} columns: drawn again", screen.drawn() >= drawn + 2, screen.drawn() - drawn)
    screen.type(b"q")
    check(f"{columns} columns: q", screen.end() == 0, screen.status)
    screen.restored(f"{columns} columns")

# Another size: at once, not at the next look.
screen = Screen(80, 24, ("--interval", "600"))
screen.wait_for(lambda: shows_ranks(screen))
screen.resize(120, 9)
check("resize", screen.wait_for(lambda: len(screen.lines()) == 9 and "READ+WRITE" in "\n".join(screen.lines()), 5),
      screen.lines())
check("resize: fewer lines than ranks", RANKS < 3 or any(re.match("and [0-9]+ more", x) for x in screen.lines()),
      screen.lines())
# Keys that mean nothing, arrows among them, and those that sort.
screen.type(b"\x1b[A\x1bOqx")
screen.resize(80, 24)
screen.wait_for(lambda: len(screen.lines()) == 24)
screen.type(b"c")
first = lambda: next((x.split()[0] for x in screen.lines() if re.match(r" +\d+  ", x)), "")
check("c: the busiest rank comes first", screen.wait_for(lambda: first() == "1", 5), screen.lines())
screen.type(b"r")
check("r: by rank", screen.wait_for(lambda: first() == "0", 5), screen.lines())
# Ctrl-Z, as a shell sees it, and back. (The kernel drops it in a group without a shell: STOP stands for it.)
os.kill(screen.pid, signal.SIGSTOP)
os.waitpid(screen.pid, os.WUNTRACED)
termios.tcsetattr(screen.fd, termios.TCSANOW, screen.modes)
drawn = screen.drawn()
os.kill(screen.pid, signal.SIGCONT)
check("after a stop: drawn again", screen.wait_for(lambda: screen.drawn() > drawn and is_raw(screen), 5))
os.kill(screen.pid, signal.SIGTERM)
check("TERM", os.WEXITSTATUS(screen.end() or 0) == 143, screen.status)
screen.restored("TERM")

# Ctrl-Z with a shell above: the terminal is the shell's meanwhile.
shell = Screen(80, 24, words=["/bin/bash", "--norc", "-i"])
shell.type(f"PS1='ready> '; {DDLRUN} top {RUN}\n".encode())
check("a shell: top", shell.wait_for(lambda: shows_ranks(shell)), shell.bytes[-300:])
shell.type(b"\x1a")
check("Ctrl-Z: the shell's screen", shell.wait_for(lambda: b"Stopped" in shell.bytes.split(LEAVE)[-1], 5), shell.bytes[-300:])
shell.bytes = b""
shell.type(b"stty -a | grep -o -- '-*icanon'; fg\n")
check("Ctrl-Z: the modes", shell.wait_for(lambda: re.search(rb"[\r\n]icanon", shell.bytes), 5), shell.bytes)
check("fg: top again", shell.wait_for(lambda: ENTER in shell.bytes and shows_ranks(shell), 5), shell.bytes[-300:])
shell.type(b"\x03")
shell.read(1)
shell.type(b"echo status $?; exit\n")
check("Ctrl-C: status", shell.wait_for(lambda: re.search(rb"[\r\n]status 130", shell.bytes), 5), shell.bytes[-300:])
shell.end()

# Without colours, and a terminal that can do nothing of this: lines, again and again.
screen = Screen(80, 24, NO_COLOR="1")
screen.wait_for(lambda: shows_ranks(screen))
check("NO_COLOR", not re.search(rb"\x1b\[[0-9;]*[1-9]m", screen.bytes), screen.bytes[-300:])
screen.type(b"\x03")
check("Ctrl-C", os.WEXITSTATUS(screen.end() or 0) == 130, screen.status)
screen.restored("Ctrl-C")
screen = Screen(80, 24, ("--interval", "1"), TERM="dumb")
check("dumb: lines", screen.wait_for(lambda: screen.bytes.count(b"RANK") >= 2, 8), screen.bytes)
check("dumb: no control characters", b"\x1b" not in screen.bytes, screen.bytes)
check("dumb: width", max(map(len, screen.bytes.decode().split("\r\n"))) <= 80, screen.bytes)
os.kill(screen.pid, signal.SIGINT)
check("dumb: Ctrl-C", os.WEXITSTATUS(screen.end() or 0) == 130, screen.status)
# The terminal goes away.
screen = Screen(80, 24)
screen.wait_for(lambda: shows_ranks(screen))
os.close(screen.fd)
end = time.monotonic() + 5
while os.waitpid(screen.pid, os.WNOHANG) == (0, 0) and time.monotonic() < end:
    time.sleep(0.1)
check("hangup: top ends", time.monotonic() < end)

sys.exit(1 if faults else 0)
