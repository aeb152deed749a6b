#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion in the real bash, zsh and fish: types the start of a line and a tab, and reads the line that follows.

bash and zsh run in a pseudo-terminal; a key writes the edited line to a file. fish answers `complete -C LINE`.
"""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ["DDLRUN_SOURCE_DIR"]
BUILD = os.environ["DDLRUN_BUILD_DIR"]
work = tempfile.mkdtemp()
failures = []


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def prepare():
    """A home with ssh's files, a directory with files, one queue, and nothing else."""
    os.makedirs(f"{work}/bin")
    os.symlink(os.environ["DDLRUN"], f"{work}/bin/ddlrun")
    for program in ("runtime/ddl-train", "bench/ddl_bench/ddl-bench"):
        if os.path.exists(f"{BUILD}/{program}"):
            os.symlink(f"{BUILD}/{program}", f"{work}/bin/{os.path.basename(program)}")
    write(f"{work}/home/.ssh/config", "Host gpu01 gpu02 *.example\n")
    write(f"{work}/home/.ssh/known_hosts", "[quark7]:2222 ssh-ed25519 AAAA\n|1|abc=|def= ssh-rsa BBBB\n"
          "$(touch${IFS}pwned) ssh-rsa CCCC\n")
    write(f"{work}/bin/sinfo", "#!/bin/sh\necho zebra_part\n", 0o755)
    # A scheduler that does not answer: the completion must not wait for it.
    write(f"{work}/bin/qstat", "#!/bin/sh\nexec sleep 30\n", 0o755)
    # What is typed must never run, also not as the program.
    write(f"{work}/evil/ddlrun", f"#!/bin/sh\ntouch {work}/pwned\n", 0o755)
    write(f"{work}/cwd/unique_log.txt", "")
    write(f"{work}/cwd/two words.yaml", "")
    os.makedirs(f"{work}/cwd/a_directory")
    shutil.copytree(f"{SOURCE}/completion", f"{work}/functions")


ENVIRONMENT = {"HOME": f"{work}/home", "PATH": f"{work}/bin:/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8",
               "ZDOTDIR": work, "DDLRUN_COMPLETION_PROBE": "1"}

# What is typed before the tab -> the whole line behind it, or None: the line stays, and each word of the third column
# is offered (or not, with "!"). The last line needs bash-completion.
CASES = [
    ("ddlrun laun", "ddlrun launch "),
    ("ddlrun -v laun", "ddlrun -v launch "),
    ("ddlrun help resub", "ddlrun help resubmit "),
    ("ddlrun launch --launcher sr", "ddlrun launch --launcher srun "),
    ("ddlrun launch --launcher=sr", "ddlrun launch --launcher=srun "),
    ("ddlrun launch --on-ho", "ddlrun launch --on-host-failure "),
    ("ddlrun launch 4x2 quar", "ddlrun launch 4x2 quark7"),
    ("ddlrun launch -H gpu01:4,quar", "ddlrun launch -H gpu01:4,quark7"),
    ("ddlrun submit --runner no", "ddlrun submit --runner none "),
    ("ddlrun submit --queue zeb", "ddlrun submit --queue zebra_part "),
    ("ddlrun submit --site kisti-nur", "ddlrun submit --site kisti-nurion "),
    ("ddlrun doctor --only LIM-01,MPI-0", None, ["LIM-01,MPI-04"]),
    ("ddlrun diagnose uniq", "ddlrun diagnose unique_log.txt "),
    ("ddlrun launch --rankfile=uniq", "ddlrun launch --rankfile=unique_log.txt "),
    ("ddlrun launch --run-dir a_d", "ddlrun launch --run-dir a_directory/"),
    ("ddlrun launch --run-dir uniq", "ddlrun launch --run-dir uniq"),
    ("ddlrun launch 2 -x DDLRUN_COMPLETION_PR", "ddlrun launch 2 -x DDLRUN_COMPLETION_PROBE "),
    ("ddlrun launch 2 -- ddlr", "ddlrun launch 2 -- ddlrun "),
    ("ddlrun launch 2 -- cat uniq", "ddlrun launch 2 -- cat unique_log.txt "),
    ("ddlrun launch 2 -- --optimizer nest", "ddlrun launch 2 -- --optimizer nesterov "),
    ("ddlrun bench allreduce 2 -- --ty", "ddlrun bench allreduce 2 -- --type "),
    ("ddl-train --optimizer nest", "ddl-train --optimizer nesterov "),
    ("ddl-train convert", "ddl-train convert-data "),
    ("ddl-bench allreduce --ty", "ddl-bench allreduce --type "),
    ("ddlrun launch --o", None, ["--order", "--oversubscribe", "--on-stall", "!--racks"]),
    ("ddlrun 'lau$(touch pwned)' $(touch pwned) `touch pwned` --la", "ddlrun 'lau$(touch pwned)' $(touch pwned) `touch pwned` --la"),
    (f"{work}/evil/ddlrun laun", f"{work}/evil/ddlrun launch "),
    ("ddlrun launch 2 -- ddlrun submit --runner no", "ddlrun launch 2 -- ddlrun submit --runner none "),
]


class Terminal:
    """A shell in a pseudo-terminal."""

    def __init__(self, command, start):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(f"{work}/cwd")
            os.execvpe(command[0], command, ENVIRONMENT)
        self.type(start)

    def read(self, seconds, until=None):
        text = b""
        end = time.monotonic() + seconds
        while time.monotonic() < end and (until is None or until.encode() not in text):
            if select.select([self.file], [], [], 0.05)[0]:
                try:
                    text += os.read(self.file, 65536)
                except OSError:
                    break
        return text.decode(errors="replace")

    def type(self, text):
        os.write(self.file, text.encode())

    def line_after(self, typed):
        """The edited line and what was shown, once a tab has been answered."""
        shown = f"{work}/line"
        if os.path.exists(shown):
            os.remove(shown)
        self.type("\x15")  # an empty line
        self.type(typed + "\t")
        output = self.read(0.15)
        # The key is read only once the tab has been answered.
        self.type("\x07")
        for _ in range(400):
            output += self.read(0.05)
            if os.path.exists(shown):
                break
        else:
            return "(no answer)", output
        with open(shown, encoding="utf-8") as file:
            line = file.read()
        self.type("\x15")
        return line, output

    def close(self):
        self.type("\x15exit\n")
        self.read(0.3)
        os.close(self.file)
        os.waitpid(self.pid, 0)


def judge(shell, case, line, output):
    typed, wanted, offered = case[0], case[1], case[2] if len(case) > 2 else []
    if ("ddl-" in typed or " -- --" in typed) and not os.path.exists(f"{work}/bin/ddl-train"):
        return  # a build without the runtime
    if wanted is not None and line != wanted:
        failures.append(f"{shell}: {typed!r} became {line!r}, not {wanted!r}")
    for word in offered:
        if (word.lstrip("!") in output.split()) == word.startswith("!"):
            failures.append(f"{shell}: {typed!r}: {word} in {output!r}")
    if os.path.exists(f"{work}/pwned") or os.path.exists(f"{work}/cwd/pwned"):
        failures.append(f"{shell}: {typed!r} executed what was typed")
        for marker in (f"{work}/pwned", f"{work}/cwd/pwned"):
            if os.path.exists(marker):
                os.remove(marker)


def run_terminal(shell, command, start):
    terminal = Terminal(command, start)
    if "READY" not in terminal.read(20, "READY>"):
        failures.append(f"{shell} did not start")
    terminal.read(0.5)
    for case in CASES[:-1] if shell == "bash" else CASES:
        line, output = terminal.line_after(case[0])
        judge(shell, case, line, output)
    terminal.close()


def run_bash(with_package):
    package = "/usr/share/bash-completion/bash_completion"
    if with_package and not os.path.exists(package):
        return "bash-completion"
    write(f"{work}/bashrc", "PS1='READY> '\n" + (f". {package}\n" if with_package else "") +
          f". {work}/functions/ddlrun.bash\n"
          "bind 'set show-all-if-ambiguous on'\nbind 'set page-completions off'\nbind 'set bell-style none'\n"
          "bind 'set completion-query-items 0'\nbind 'set enable-bracketed-paste off'\n"
          f"show() {{ printf %s \"$READLINE_LINE\" > {work}/line.new; mv {work}/line.new {work}/line; }}\n"
          "bind -x '\"\\C-g\": show'\n")
    run_terminal("bash" + (" with bash-completion" if with_package else ""),
                 ["bash", "--rcfile", f"{work}/bashrc", "-i"], "")
    return None


def run_zsh():
    if not shutil.which("zsh"):
        return "zsh"
    # -D: no dump file. With -d FILE, zsh 5.9 replaces FILE, even a device, by a rename.
    write(f"{work}/.zshrc", f"PS1='READY> '\nfpath=({work}/functions $fpath)\nautoload -U compinit\n"
          "compinit -u -D\nunsetopt beep\nsetopt auto_list\nLISTMAX=10000\nbindkey -e\n"
          f"show() {{ print -rn -- \"$BUFFER\" > {work}/line.new; mv {work}/line.new {work}/line }}\n"
          "zle -N show\nbindkey '^G' show\n")
    run_terminal("zsh", ["zsh", "-i"], "")
    return None


def run_fish():
    if not shutil.which("fish"):
        return "fish"
    for case in CASES:
        quoted = case[0].replace("\\", "\\\\").replace("'", "\\'")
        result = subprocess.run(
            ["fish", "--no-config", "-c", f"source {work}/functions/ddlrun.fish; complete -C '{quoted}'"],
            env=ENVIRONMENT, cwd=f"{work}/cwd", capture_output=True, text=True, timeout=60, check=False)
        words = [line.split("\t")[0] for line in result.stdout.splitlines()]
        # The one word that is offered, in the place of the last one.
        before = case[0][:case[0].rfind(" ") + 1]
        line = before + words[0] + " " if len(words) == 1 else case[0]
        if case[1] is not None and not case[1].endswith(" "):
            line = line.rstrip()
        judge("fish", case, line, " ".join(words))
        if result.stderr:
            failures.append(f"fish: {case[0]!r}: {result.stderr}")
    return None


def main():
    prepare()
    missing = [name for name in (run_bash(False), run_bash(True), run_zsh(), run_fish()) if name]
    shutil.rmtree(work)
    for text in failures:
        print("FAILED", text)
    if failures:
        return 1
    print(f"{len(CASES)} lines are completed in bash, zsh and fish, except in: {' '.join(missing) or 'none missing'}")
    if missing:
        print(f"skipped: {' '.join(missing)} not installed")
        return 125
    return 0


if __name__ == "__main__":
    sys.exit(main())
