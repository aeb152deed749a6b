# SPDX-License-Identifier: MIT
"""Prints docs/compare.md's tables from what compare.sh left: judge.py RESULTS...

A cause is found by words that name the fault, the host by its name, a rank by "rank 3" or the launcher's word for it, a remedy by
words that ask the user to do something. The rules are the same for all launchers; the page quotes one line, so a reader can check."""
import glob
import os
import re
import statistics
import sys

ORDER = ["mpirun", "torchrun", "horovodrun", "horovodrun_mpi", "ddlrun", "ddlrun_ssh",
         "srun", "salloc_mpirun", "srun_torchrun", "hpc_launcher", "submitit", "reframe", "ddlrun_submit"]
CAUSES = {
    "missing": r"no such file|not found|could not find|can't open|could not access|not executable|does not exist",
    "wrong_host": r"could not resolve|not known|unknown host|invalid node name|no such host|cannot find.*node|not in the (list|cluster)"
                  r"|has no node|do(es)? not (know|exist)|no address associated",
    "killed": r"signal 9|sigkill|\bkilled\b|exitcode: -9|status 137|code 137|exit code: 137|signal: 9|died with .*9",
    "full_tmp": r"no space left|\bfull\b|disk quota|out of space|no room",
    "hang": r"\bstall|no progress|\bhang|no cpu time|timed? ?out|missing ranks",
}
TITLES = {
    "good": "No fault: 3 s of work",
    "missing": "A missing program",
    "wrong_host": "A wrong host name, nodeX",
    "killed": "kill -9 of rank 3 after 5 s, of 60 s of work",
    "full_tmp": "A full /tmp on node2",
    "hang": "Rank 3 hangs, the others wait in an allreduce",
}
REMEDY = re.compile(r"^\s*try|please |check (that|the|if|your|full)|make sure|you (may|can|should|could|need)|consider|increase", re.I | re.M)
RANK = r"(rank|task|process|peer|worker)s?( name)?[\s:=_#]*(\[|name )?0*3\b|\[1,3\]|\[3\]|\(rank[: ]*3|ranks: ?\[?3|_3_log|local_rank: 1"


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return re.sub(r"\x1b\[[0-9;]*m", "", file.read())
    except FileNotFoundError:
        return ""


def find(name):
    return next((d for root in sys.argv[1:] for d in [f"{root}/{name}"] if os.path.exists(f"{d}/about")), None)


def about(directory):
    return dict(line.split("=", 1) for line in read(f"{directory}/about").splitlines())


def quote(line):
    line = re.sub(r"/(var|home)/[\w./-]*/", ".../", line.strip())
    line = re.sub(r"\d{8}-\d{6}-\w{6}", "...", line)
    return "`" + (line[:107] + "..." if len(line) > 110 else line).replace("|", "\\|").replace("`", "'") + "`"


def first_line(text, pattern):
    return next((line for line in text.splitlines() if re.search(pattern, line, re.I)), None)


def without_echo(text, typed):
    return "\n".join(line for line in text.splitlines() if typed not in line and not re.search(r"^ +(command|launched by):", line))


def answer(found_on_screen, found_in_files):
    return "yes" if found_on_screen else "file" if found_in_files else "no"


def left(directory):
    processes = len(read(f"{directory}/processes").splitlines())
    places = {}
    for line in read(f"{directory}/files").splitlines():
        where, path = line.split(" ", 1)
        top = "home" if where == "home" else f"{where}:/{path.split('/')[1]}" if not path.startswith("/dev") else f"{where}:/dev/shm"
        places[top] = places.get(top, 0) + 1
    return str(processes), ", ".join(f"{count} in {top}" for top, count in sorted(places.items())) or "0"


def fault_row(name, case):
    directory = find(name)
    if not directory or not os.path.exists(f"{directory}/{case}/status"):
        return None
    title, directory = about(directory)["title"], f"{directory}/{case}"
    # What ctrl-C makes ranks print is no report of the fault, nor is an echo of the command.
    screen, logs = (without_echo(read(f"{directory}/{one}").split("^C")[0], read(f"{directory}/typed").strip()) for one in ("output", "logs"))
    status, seconds = read(f"{directory}/status").strip(), read(f"{directory}/seconds").strip()
    limit = float(read(f"{directory}/limit") or 110)
    if float(seconds) > limit:
        seconds = f"{limit:.0f} + {float(seconds) - limit:.0f}"
    processes, files = left(directory)
    well = "ended well" in screen + logs and set(status.replace(",", "").split()) == {"0"}
    host = read(f"{directory}/host").strip()
    if case == "missing":  # on both hosts
        host = "node[12]"
    if case == "good" or (well and case == "full_tmp"):
        cells = ["not affected"] + ["-"] * 3 if case != "good" else []
        line = ""
    else:
        found = [answer(re.search(pattern, screen, re.I | re.M), re.search(pattern, logs, re.I | re.M))
                 for pattern in (CAUSES[case], rf"\b{host}\b", RANK, REMEDY.pattern)]
        if case not in ("killed", "hang"):
            found[2] = "-"
        cells = found
        line = first_line(screen, CAUSES[case]) or first_line(logs, CAUSES[case]) or next(
            (one for one in reversed(screen.splitlines()) if one.strip() and case != "hang"), "")
    cells = [title, *cells, status, seconds, processes, files]
    return cells + ([quote(line) if line else ""] if case != "good" else [])


def table(heads, rows):
    print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")


names = [name for name in ORDER if find(name)]
versions = [about(find(name)).get("version", "") for name in names]
print("Versions: " + ", ".join(dict.fromkeys(v for v in versions if v)) + ".\n\n## What is typed")
rows = []
for name in names:
    own = about(find(name))
    extra = [os.path.basename(path) for path in glob.glob(f"{find(name)}/*.py")]
    on = own["typed_on"].replace(" ", ", ")
    rows.append([own["title"], f"`{read(find(name) + '/good/typed').strip()}`", on,
                 ", ".join(f"`{one}` ({len(read(find(name) + '/' + one).splitlines())} lines)" for one in extra) or "none"])
table(["launcher", "command", "typed on", "files besides the program"], rows)
print("\n## Until the first rank runs")
rows = []
for name in names:
    for root in sys.argv[1:]:  # the starts of one directory, with mpirun's of the same turns
        own, base = read(f"{root}/{name}.seconds").split(), read(f"{root}/mpirun.seconds").split()
        if own and base:
            one, other = statistics.median(map(float, own)), statistics.median(map(float, base))
            rows.append([about(find(name))["title"], f"{one:.2f}", f"{one / other:.1f}", str(len(own))])
table(["launcher", "median s", "as a multiple of bare mpirun", "runs"], rows)
for case, title in TITLES.items():
    print(f"\n## {title}")
    middle = [] if case == "good" else ["cause", "host", "rank", "remedy"]
    tail = [] if case == "good" else ["its line"]
    table(["launcher", *middle, "status", "seconds", "processes left", "files left", *tail],
          [row for row in (fault_row(name, case) for name in ORDER) if row])
