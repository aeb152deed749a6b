#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_page.py PAGE SHELL...: types the commands of a page of documentation into one shell, and compares what they print.

A command is an indented line that starts with "$ "; the lines behind it, up to the next command or the end of the block,
are its output. A command that ends with <<'END' goes on up to END, one that ends with \\ on the next line. An output line
"..." stands for any lines, "..." at the end of a line for the rest of it. What differs from run to run compares as equal:
ids of runs and jobs, dates, times, fractions and speeds. Lines of several ranks come in any order. A block without a
command is not typed. Prints each difference, and exits with 1 if there is one.
"""
import os
import re
import subprocess
import sys
import threading

END = "--the-output-ends-here--"
MOST_LINES = 60  # of an output that differs
MOST_SECONDS = 300  # of one command, on a busy machine too
# Open MPI 4.1.4 prints it on a busy machine where ssh starts before mpirun has put it into a process group of its own.
HARMLESS = "plm:rsh: Warning: setpgid("

# Longer patterns first: a run's id contains digits that a later pattern would take.
VARIABLE = [
    (r"\d{8}-\d{6}-\w{6}", "RUN"),
    (r"\b\d{8}-\d{6}(-\d+)?\b", "STAMP"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "DATE"),
    (r"\b\d+:\d\d(:\d\d)?\b", "TIME"),
    (r"\b[\d,]+ images/s", "SPEED"),
    (r"\b(process|pid|PID) \d+", r"\1 PID"),
    (r"\b\d+\.\d+\b", "FRACTION"),
    (r"\b\d+ (ms|s)\b", "DURATION"),
    (r"\s+", " "),
]


def is_output(lines, index):
    """An empty line between two lines of a block belongs to the block."""
    line = next((line for line in lines[index:] if line), "")
    return line.startswith("    ") and not line.startswith("    $ ")


def commands(text):
    """(line number, command, expected lines) of each command of a page."""
    found = []
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        if not lines[index].startswith("    $ "):
            index += 1
            continue
        number, command = index + 1, [lines[index][6:]]
        index += 1
        while command[-1].endswith("\\"):
            command.append(lines[index][4:])
            index += 1
        if command[0].endswith("<<'END'"):
            while command[-1] != "END":
                command.append(lines[index][4:])
                index += 1
        expected = []
        while is_output(lines, index):
            expected.append(lines[index][4:])
            index += 1
        found.append((number, "\n".join(command), expected))
    return found


def plain(line):
    for pattern, word in VARIABLE:
        line = re.sub(pattern, word, line)
    return line.strip()


def is_same(expected, printed):
    return printed.startswith(expected[:-3].rstrip()) if expected.endswith("...") else printed == expected


def matches(expected, printed):
    """Whether the parts between "..." come one after the other; without "...", the lines in any order."""
    printed = [line for line in printed if HARMLESS not in line]
    expected, printed = ([plain(line) for line in lines if line.strip()] for lines in (expected, printed))
    if "..." not in expected:
        pairs = zip(sorted(expected), sorted(printed))
        return len(expected) == len(printed) and all(is_same(*pair) for pair in pairs)
    position = 0
    for place, line in enumerate(expected):
        if line == "...":
            continue
        is_next = place == 0 or expected[place - 1] != "..."
        rest = printed[position:position + 1] if is_next else printed[position:]
        index = next((index for index, other in enumerate(rest) if is_same(line, other)), None)
        if index is None:
            return False
        position += index + 1
    return expected[-1] == "..." or position == len(printed)


class Shell:
    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def give_up(self, command, printed):
        """The shell's children keep its pipe open, so nothing here would end."""
        print(f"no end within {MOST_SECONDS} s: {command}\n" + "\n".join(printed[-MOST_LINES:]), flush=True)
        os._exit(1)

    def run(self, command):
        # Without input: a command that reads would take the next one. Of a pipe, bash reads line by line.
        self.process.stdin.write("{\n" + command + "\n} < /dev/null\n" + f"echo; echo {END}\n")
        self.process.stdin.flush()
        printed = []
        watchdog = threading.Timer(MOST_SECONDS, self.give_up, (command, printed))
        watchdog.daemon = True
        watchdog.start()
        for line in self.process.stdout:
            if line.strip() == END:
                watchdog.cancel()
                return printed
            printed.append(line.rstrip("\n"))
        sys.exit(f"the shell ended at: {command}\n" + "\n".join(printed))


def main():
    page = sys.argv[1]
    with open(page, encoding="utf-8") as file:
        found = commands(file.read())
    if not found:
        sys.exit(f"{page}: no command")
    shell = Shell(sys.argv[2:])
    differing = 0
    for number, command, expected in found:
        printed = shell.run(command)
        if not matches(expected, printed):
            differing += 1
            print(f"{page}:{number}: $ {command}\n  the page shows:")
            print("".join(f"    {line}\n" for line in expected), "  it prints:", sep="")
            print("".join(f"    {line}\n" for line in printed[-MOST_LINES:]), end="")
    print(f"{page}: {len(found)} commands, {differing} differ from the page")
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
