# SPDX-License-Identifier: MIT
"""A program on a terminal of its own: what it prints, keys for it, its end."""
import os
import pty
import select
import time


class PtyProgram:
    def __init__(self, words, variables=None, wait=0.0):
        """Starts words[0]; `wait`: seconds before it begins, for a caller that prepares the terminal."""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(variables or {})
            time.sleep(wait)
            os.execv(words[0], words)
        self.bytes = b""
        self.status = None  # of waitpid()

    def type(self, keys):
        os.write(self.fd, keys)

    def read(self, seconds):
        """Keeps what it prints in that time; a full terminal would stop it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.fd], [], [], min(seconds, 0.05))[0]:
                continue
            try:
                self.bytes += os.read(self.fd, 65536)
            except OSError:  # the other end is closed
                time.sleep(min(seconds, 0.05))
                return

    def wait_for(self, condition, seconds=15):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            self.read(0.1)
        return condition()

    def shows(self, text, seconds=30):
        return self.wait_for(lambda: text in self.bytes, seconds)

    def end(self, seconds=10):
        """Its status as waitpid() has it; None where it goes on."""
        end = time.monotonic() + seconds
        while self.status is None and time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        self.read(0.2)
        return self.status
