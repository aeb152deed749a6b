#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages_coverage.py [PAGES]: each word of the code is on a man page or in the reference.

The words come from elsewhere than the pages: options and commands from `--help` of the programs, checks, signatures and
rules from their --list options, exit statuses and environment variables from the sources. PAGES: the directory that the
build wrote, default build/*/man/pages.
"""
import os
import re
import subprocess
import sys

BUILD = os.environ["DDLRUN_BUILD_DIR"]
SOURCE = os.environ["DDLRUN_SOURCE_DIR"]
PAGES = sys.argv[1] if len(sys.argv) > 1 else f"{BUILD}/man/pages"
missing = []

# Names in the sources that are no variables: a value of libddl's C interface; a name that no setting may have.
NO_VARIABLE = {"DDL_SUM", "DDLRUN_VERSION"}


def output_of(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        missing.append(f"{' '.join(command)}: exit status {result.returncode}: {result.stderr}")
    return result.stdout


def page(path, *sections):
    """The text of a file of the reference, or what these sections of a page describe: the heads of their entries."""
    file = f"{PAGES}/{path}"
    if not os.path.exists(file):
        missing.append(f"{path}: there is no such page")
        return ""
    with open(file, encoding="utf-8") as text:
        text = text.read()
    if path.startswith("reference/"):
        return text
    parts = [part for part in text.split('.SH "') if part.startswith(tuple(f'{name}"' for name in sections))]
    text = "\n".join(re.findall(r"^(?:\.TP\n|\.SS )(.*)$", "".join(parts), re.M))
    for escape, letter in (("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\-", "-"), ("\\(ti", "~"), ("\\(ha", "^"),
                           ("\\(ga", "`"), ("\\(dq", '"'), ("\\&", ""), ("\\e", "\\")):
        text = text.replace(escape, letter)
    return text


def require(word, text, where):
    if not re.search(r"(?<![\w-])" + re.escape(word) + r"(?![\w-])", text):
        missing.append(f"{word}: not in {where}")


def options_in(help_text):
    """The names that begin the rows of a help: "-H,--hosts LIST   text"."""
    names = set()
    for row in re.findall(r"^  (-[^ ]*(?:, ?-[^ ]*)*)", help_text, re.M):
        names.update(re.findall(r"(?<![\w-])--?[\w-]+", row))
    return names


def check_commands():
    overview = output_of(os.environ["DDLRUN"], "--help")
    commands = re.findall(r"^  ([a-z-]+) +\S", overview[overview.index("Commands:"):], re.M)
    main = page("man1/ddlrun.1", "COMMANDS")
    options = page("reference/options.md")
    for command in commands:
        require(f"ddlrun-{command}", main, "COMMANDS of ddlrun.1")
        text = page(f"man1/ddlrun-{command}.1", "OPTIONS")
        names = options_in(output_of(os.environ["DDLRUN"], command, "--help"))
        for name in names:
            require(name, text, f"OPTIONS of ddlrun-{command}.1")
            require(name, options, "options.md")
    return len(commands)


def check_trainer():
    for program, path in (("ddl-train", "runtime/ddl-train"), ("ddl-bench", "bench/ddl_bench/ddl-bench")):
        if not os.path.exists(f"{BUILD}/{path}"):
            continue
        text = page(f"man1/{program}.1", "OPTIONS", "COMMANDS")
        help_text = output_of(f"{BUILD}/{path}", "--help")
        for name in options_in(help_text):
            require(name, text, f"{program}.1")
        usage = help_text.split("Examples:")[0]
        for command in re.findall(r"^ +(?:mpirun \.\.\. )?ddl-train ([a-z][a-z-]+)", usage, re.M):
            require(command, text, f"{program}.1")
            for name in options_in(output_of(f"{BUILD}/{path}", command, "--help")):
                require(name, text, f"{program}.1")


def check_tables():
    """First words of the --list options."""
    ddlrun = os.environ["DDLRUN"]
    for command, path in (((ddlrun, "doctor", "--list-checks"), "reference/checks.md"),
                          ((ddlrun, "diagnose", "--list"), "reference/signatures.md"),
                          ((ddlrun, "lint-script", "--list-rules"), "reference/lint_rules.md")):
        # "## LIM-01: locked memory", "| `A15` | P | ...", "- `word-in-directive`"
        text = set(re.findall(r"^(?:## |\| `|- `)([\w-]+)", page(path), re.M))
        words = [line.split()[0] for line in output_of(*command).splitlines() if re.match(r"[\w-]+", line)]
        if len(words) < 20:
            missing.append(f"{' '.join(command)}: {len(words)} words")
        missing.extend(f"{word}: not in {path}" for word in words if word not in text)
    keys = page("man5/ddlrun-config.5", "KEYS")
    with open(f"{SOURCE}/schedulers/job/job_settings.cpp", encoding="utf-8") as code:
        table = code.read().split("foreign_words")[0]
    for key in re.findall(r'^    \{"(\w+)", "', table, re.M):
        require(f"{key}:", keys, "ddlrun-config.5")


def check_statuses():
    text = page("man1/ddlrun.1", "EXIT STATUS")
    with open(f"{SOURCE}/base/text/error.cpp", encoding="utf-8") as code:
        statuses = set(re.findall(r"return (\d+);", code.read()))
    with open(f"{SOURCE}/runtime/app/train_command.cpp", encoding="utf-8") as code:
        statuses.update(re.findall(r"exit_stopped = (\d+)", code.read()))
    if len(statuses) < 7:
        missing.append(f"exit statuses in the sources: {statuses}")
    for status in statuses:
        require(status, text, "EXIT STATUS of ddlrun.1")


def check_variables():
    """DDL_ and DDLRUN_ names in any source; names given to getenv() or Environment::get().

    A file that gives them a variable has the names elsewhere: there each literal of that form counts.
    """
    pages = page("man1/ddlrun.1", "ENVIRONMENT")
    read = re.compile(r'(?:getenv|environment\.get|job_variable\([\w.]+,|\bvariable)\(? ?"([A-Z][A-Z0-9_]+)"')
    listed = re.compile(r'(?:getenv|environment\.get|variables\.find|\bvariable)\((?!")')
    literal = re.compile(r'"([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])"')
    own = re.compile(r'"(DDL(?:RUN)?_[A-Z_]+[A-Z])"')
    found = {}
    for directory in ("base", "bench/ddl_bench", "cli", "ddl", "doctor", "launch", "runtime", "schedulers", "templates",
                      "topology"):
        for at, _, names in os.walk(f"{SOURCE}/{directory}"):
            for name in names:
                if not name.endswith((".cpp", ".hpp", ".cu")):
                    continue
                with open(f"{at}/{name}", encoding="utf-8") as code:
                    text = re.sub(r"^ *//.*$", "", code.read(), flags=re.M)
                words = read.findall(text) + own.findall(text)
                for word in words + (literal.findall(text) if listed.search(text) else []):
                    found.setdefault(word, f"{at[len(SOURCE) + 1:]}/{name}")
    if len(found) < 30:
        missing.append(f"only {len(found)} variables in the sources")
    for word, where in sorted(found.items()):
        if word not in NO_VARIABLE and not re.search(rf"\b{word}\b", pages):
            missing.append(f"{word}: {where} reads it, not in ENVIRONMENT of ddlrun.1")
    return len(found)


def main():
    commands = check_commands()
    check_trainer()
    check_tables()
    check_statuses()
    variables = check_variables()
    for text in missing:
        print(text)
    print(f"{len(missing)} words are missing" if missing else
          f"all words of {commands} commands and {variables} variables are on the pages")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
