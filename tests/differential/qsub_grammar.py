#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A strict reader of qsub's directives, written from qsub(1), pbs_resources(7) and what OpenPBS 23.06 answered.

qsub_grammar.py [--torque] FILE...   status 1 if a script holds what qsub would refuse, ignore or misread
qsub_grammar.py --self-test          good and broken scripts of its own
Stricter than qsub where qsub accepts what is never meant: no -V, place always, ompthreads with mpiprocs.
"""
import re
import shlex
import sys

NAME = re.compile(r"[A-Za-z0-9][!-~]{0,229}$")
WORD = re.compile(r"[!-~]+$")
SIZE = re.compile(r"\d+(b|kb|mb|gb|tb|pb|w|kw|mw|gw|tw|pw)?$", re.I)
NUMBER = re.compile(r"\d+$")
POSITIVE = re.compile(r"[1-9]\d*$")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(=[^,]*)?$")
MAIL = re.compile(r"[A-Za-z0-9._+-]+(@[A-Za-z0-9.-]+)?$")
PATH = re.compile(r"/[^\s:,]*$")
JOB_ID = re.compile(r"\d+(\[\d*\])?(\.[A-Za-z0-9.-]+)?$")
TIME = re.compile(r"(\d+|(\d+:)?\d{1,2}:\d{2}(\.\d+)?)$")

CHUNK = {"ncpus": POSITIVE, "mpiprocs": NUMBER, "ompthreads": POSITIVE, "ngpus": NUMBER, "mem": SIZE,
         "vmem": SIZE, "host": HOST, "vnode": HOST, "arch": WORD, "cpu_type": WORD, "gpu_type": WORD}
JOB_WIDE = {"walltime": TIME, "cput": TIME, "min_walltime": TIME, "max_walltime": TIME, "software": WORD}
OLD = {"ncpus", "mem", "vmem", "mpiprocs", "ompthreads", "ngpus", "nodes", "ppn", "host"}
TORQUE_WIDE = {"walltime": TIME, "cput": TIME, "mem": SIZE, "pmem": SIZE, "vmem": SIZE, "pvmem": SIZE}
DEPENDENCIES = {"after", "afterok", "afternotok", "afterany", "before", "beforeok", "beforenotok", "beforeany"}
ATTRIBUTES = {"sandbox": re.compile("(HOME|PRIVATE)$"), "umask": re.compile("[0-7]{1,4}$"),
              "block": re.compile("(true|false)$"), "group_list": WORD, "run_count": NUMBER, "x": WORD}
TAKES = {"-N": NAME, "-q": re.compile(r"[A-Za-z0-9_.-]+(@[A-Za-z0-9.-]+)?$"), "-A": WORD,
         "-P": re.compile(r"[^\s/\[\]\";:|<>+,?*]+$"), "-M": re.compile(MAIL.pattern[:-1] + r"(,.+)?$"),
         "-m": re.compile("(n|[abej]+)$"), "-j": re.compile("(oe|eo|n)$"), "-o": PATH, "-e": PATH,
         "-r": re.compile("[yn]$"), "-p": re.compile(r"-?\d{1,4}$"), "-S": PATH, "-k": re.compile("(n|[oed]+)$"),
         "-a": re.compile(r"\d{4,12}(\.\d{2})?$"), "-u": WORD, "-c": WORD}


class Bad(Exception):
    pass


def need(good, text):
    if not good:
        raise Bad(text)


def check_chunk(chunk):
    parts = chunk.split(":")
    if NUMBER.match(parts[0]):
        need(int(parts[0]) > 0, f"a chunk of none: {chunk}")
        parts = parts[1:]
    seen = {}
    for part in parts:
        name, equals, value = part.partition("=")
        need(equals, f"'{part}' in a chunk is no resource=value")
        need(name in CHUNK, f"Unknown resource: {name}")
        need(name not in seen, f"{name} twice in a chunk")
        need(CHUNK[name].match(value), f"Illegal attribute or resource value: {part}")
        seen[name] = value
    need("ncpus" in seen, "a chunk without ncpus")
    if int(seen.get("mpiprocs", "0")) > 0:
        need("ompthreads" in seen, "mpiprocs without ompthreads: OMP_NUM_THREADS becomes all of ncpus")


def check_place(value):
    parts = value.split(":")
    need(parts[0] in ("free", "pack", "scatter", "vscatter"), f"place={value}")
    for part in parts[1:]:
        need(part in ("excl", "shared", "exclhost") or re.match(r"group=\w+$", part), f"place={value}")


def check_nodes(value):
    for node in value.split("+"):
        first, *rest = node.split(":")
        need(POSITIVE.match(first) or HOST.match(first), f"nodes={value}")
        for part in rest:
            name, equals, number = part.partition("=")
            if equals:
                need(name in ("ppn", "gpus", "mics") and POSITIVE.match(number), f"nodes={value}")
            else:
                need(re.match(r"[A-Za-z][\w.-]*$", part), f"nodes={value}")


def check_resources(value, seen, torque):
    for part in value.split(","):
        name, equals, amount = part.partition("=")
        need(equals and amount, f"-l {part}")
        need(name not in seen, f"-l {name} twice: only one of them counts")
        seen.add(name)
        if torque and name == "nodes":
            check_nodes(amount)
        elif torque:
            need(name in TORQUE_WIDE and TORQUE_WIDE[name].match(amount), f"-l {part}")
        elif name == "select":
            for chunk in amount.split("+"):
                check_chunk(chunk)
        elif name == "place":
            check_place(amount)
        else:
            need(name not in OLD, f'"-lresource=" cannot be used with "select" or "place": {name}')
            need(name in JOB_WIDE, f"Unknown resource: {name}")
            need(JOB_WIDE[name].match(amount), f"Illegal attribute or resource value: {part}")


def check_attributes(value):
    name, equals, text = value.partition("=")
    need(equals, f"-W {value}")
    if name != "depend":
        need(name in ATTRIBUTES and ATTRIBUTES[name].match(text), f"-W {value}")
        return
    for part in text.split(","):
        kind, *ids = part.split(":")
        need(kind in DEPENDENCIES and ids, f"depend={part}")
        for job in ids:
            need(JOB_ID.match(job), f"depend: {job}")


def check_array(value, torque):
    if torque:
        need(re.match(r"\d+(-\d+)?(,\d+(-\d+)?)*(%\d+)?$", value), f"-t {value}")
        return
    match = re.match(r"(\d+)-(\d+)(:([1-9]\d*))?(%[1-9]\d*)?$", value)
    need(match and int(match[1]) < int(match[2]), f"-J {value}")


def check_option(option, value, seen, resources, torque):
    need(option in ("-l", "-W") or option not in seen, f"{option} twice")
    seen[option] = value
    if option == "-l":
        check_resources(value, resources, torque)
    elif option == "-W":
        check_attributes(value)
    elif option == ("-t" if torque else "-J"):
        check_array(value, torque)
    elif option == "-v":
        for part in value.split(","):
            need(VARIABLE.match(part), f"-v {part}")
    else:
        need(option in TAKES, f"directive error: {option}")
        need(TAKES[option].match(value), f"illegal {option} value: {value}")


def read_directive(text, seen, resources, torque):
    words = shlex.split(text)
    need(words, "an empty directive")
    while words:
        option = words.pop(0)
        need(re.match(r"-[A-Za-z]", option), f"'{option}' where an option should be")
        value = option[2:] or (words.pop(0) if words else "")
        need(value, f"{option} without its value")
        check_option(option[:2], value, seen, resources, torque)


def check_script(text, torque=False):
    need("\r" not in text, "script contains cr, lf")
    need("\0" not in text, "script contains a NUL byte")
    need(text.startswith("#!/"), "no interpreter in the first line")
    seen, resources, command = {}, set(), False
    for line in text.split("\n"):
        if line.startswith("#PBS"):
            need(not command, f"ignored, since a command stands before it: {line}")
            need(line[4:5] in (" ", "\t"), f"no directive: {line}")
            read_directive(line[5:], seen, resources, torque)
        elif line.lstrip().startswith("#PBS") or line.startswith(("# PBS", "#pbs")):
            raise Bad(f"ignored: {line}")
        elif line.strip() and not line.startswith("#"):
            command = True
    need(command, "no command at all")
    need("nodes" in resources if torque else {"select", "place"} <= resources, "no shape: select and place")
    need("-V" not in seen, "-V")
    if "-J" in seen:
        need(seen.get("-r") == "y", "an array must be rerunnable")


GOOD = ["-l select=4:ncpus=68:mpiprocs=1:ompthreads=68\n#PBS -l place=scatter",
        "-l select=1:ncpus=8:mpiprocs=1:ompthreads=8+3:ncpus=4:mpiprocs=2:ompthreads=2 -l place=scatter:excl",
        "-l select=1:ncpus=8:mem=12gb:ngpus=2:host=n1,place=pack,walltime=100:00:00 -q workq -A vasp",
        "-l select=2:ncpus=8,place=free -J 0-9:2%3 -r y", "-l select=2:ncpus=8,place=free -W depend=afterok:12.server",
        "-l select=1:ncpus=1,place=free -N 3rd -j oe -o /a/out -m ae -M me@example.org -v A,B=1 -W sandbox=PRIVATE"]
FINE = "-l select=1:ncpus=1 -l place=scatter"
BAD = ["", "-Z foo", FINE + " -Z foo", FINE + " -V", FINE + " -l ncpus=4", FINE + " -l nodes=2:ppn=4",
       FINE + " -l walltime=4h", FINE + " -l walltime=", FINE + " -l select=2:ncpus=1", FINE + " -N a b",
       FINE + " -N " + "x" * 240, FINE + " -N 'a b'", FINE + " -N -x", FINE + " -r x", FINE + " -m x", FINE + " -j x",
       FINE + " -o out", FINE + " -o host:/x", FINE + " -J 3", FINE + " -J 3-3 -r y", FINE + " -J 0-9 -r n",
       FINE + " -q", FINE + " -q a -q b", FINE + " -P a/b", FINE + " -W depend=afterok", FINE + " -W sandbox=NO",
       FINE + " -W depend=maybe:1", FINE + " -W depend=afterok:$(x)", FINE + " -v 1A", FINE + " -l foo=1",
       FINE + " word", FINE + "\r", "-l select=0:ncpus=1 -l place=scatter", "-l select=2:ncpus=x -l place=scatter",
       "-l select=2:ncpus=8:mpiprocs=4 -l place=scatter", "-l select=2:ncpus=8 -l place=scattered",
       "-l select=2:ncpus=8", "-l place=scatter", "-l select=2:mpiprocs=1:ompthreads=1 -l place=scatter",
       "-l select=2:ncpus=1:ncpus=2 -l place=scatter", "-l select=2:ncpus=1:ppn=2 -l place=scatter",
       "-l select=2:ncpus=1:mem=x -l place=scatter", "-l select=2:ncpus=1++1:ncpus=1 -l place=scatter",
       "-l select=2:ncpus=1:host=a_b -l place=scatter", "-l select=2:ncpus -l place=scatter", FINE + " 'open"]
BAD_TEXTS = ["#PBS " + FINE + "\nx\n", "#!/bin/bash\nx\n#PBS " + FINE + "\n",
             "#!/bin/bash\n #PBS " + FINE + "\nx\n", "#!/bin/bash\n#PBS " + FINE + "\nx\n#PBS -q a\n",
             "#!/bin/bash\n#PBS" + FINE + "\nx\n", "#!/bin/bash\n#PBS " + FINE + "\n"]


def self_test():
    wrong = 0
    cases = [(f"#!/bin/bash\n#PBS {line}\necho\n", True) for line in GOOD]
    cases += [(f"#!/bin/bash\n#PBS {line}\necho\n", False) for line in BAD] + [(text, False) for text in BAD_TEXTS]
    for text, good in cases:
        try:
            check_script(text)
            held = True
        except (Bad, ValueError) as error:
            held, reason = False, error
        if held != good:
            wrong += 1
            print("taken:" if held else f"refused ({reason}):", repr(text))
    print(f"qsub's grammar: {len(GOOD)} good and {len(BAD) + len(BAD_TEXTS)} broken scripts, {wrong} misjudged")
    return 1 if wrong else 0


def main(words):
    if words == ["--self-test"]:
        return self_test()
    torque = words[:1] == ["--torque"]
    files = words[1:] if torque else words
    wrong = 0
    for file in files:
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as script:
            try:
                check_script(script.read(), torque)
            except (Bad, ValueError) as error:
                wrong += 1
                print(f"{file}: {error}")
    print(f"{len(files)} {'Torque' if torque else 'PBS'} scripts, {wrong} refused")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
