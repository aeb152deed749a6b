# SPDX-License-Identifier: MIT
# judge.py found REPORT ID VERDICTS HOSTS   is ID found with one of VERDICTS ("warn|fail"), on exactly HOSTS ("" = any),
#                                           with a remedy? HOSTS "none": it must not be found at all; "named ib3 ib4":
#                                           it speaks of these and of no other ib1 ... ib4
# judge.py clean REPORT [ID...]             does nothing warn, fail or err (of these ids)?
# judge.py remedy REPORT ID                 its commands, one a line: "head|hosts root|user HOSTS COMMAND", separated by byte 31
# judge.py others REPORT ID                 what else is found
# Prints what is wrong; REPORT is doctor's JSON document.
import json
import re
import sys

verb, path = sys.argv[1:3]
try:
    with open(path) as file:
        report = json.load(file)
except ValueError as problem:
    sys.exit(f"no JSON: {problem}")
if report.get("schema") != "ddlrun.doctor/1":
    sys.exit(f"schema {report.get('schema')}")
alarms = [f for f in report["findings"] if f["verdict"] in ("warn", "fail", "error")]


def reported(finding):
    return f"{finding['id']} {finding['verdict']} {','.join(finding['hosts'])}: {finding['observed'][:120]}"


def found(id, verdicts, hosts):
    mine = [f for f in alarms if f["id"] == id]
    if hosts == "none":
        return [reported(f) for f in mine]
    right = [f for f in mine if f["verdict"] in verdicts.split("|")]
    if not right:
        return [f"{id}: no {verdicts}" + "".join(f"; {reported(f)}" for f in mine)]
    problems = [f"{id}: no remedy: {reported(f)}" for f in right
                if not f["remedy"].get("commands") and not f["remedy"].get("note")]
    named = sorted({host for f in right for host in f["hosts"]})
    if hosts.startswith("named "):
        hosts = hosts[6:]
        words = " ".join(" ".join([*f["hosts"], f["observed"], *f["remedy"]["commands"]]) for f in right)
        every = {re.sub("[0-9]+$", str(i), host) for host in hosts.split() for i in range(1, 5)}
        named = sorted(name for name in every if re.search(rf"\b{name}\b", words))
    if hosts and named != sorted(hosts.split()):
        problems.append(f"{id}: hosts {' '.join(named) or '(none)'}, expected {hosts}")
    return problems


def remedy(id):
    for f in alarms:
        if f["id"] == id:
            for command in f["remedy"].get("commands", []):
                yield "\x1f".join([f["remedy"]["on"],
                                 "root" if f["remedy"].get("needs_root") else "user", " ".join(f["hosts"]), command])


if verb == "found":
    lines = found(*sys.argv[3:6])
elif verb == "clean":
    lines = [reported(f) for f in alarms if not sys.argv[3:] or f["id"] in sys.argv[3:]]
elif verb == "others":
    lines = [reported(f) for f in alarms if f["id"] != sys.argv[3]]
else:
    print("\n".join(remedy(sys.argv[3])))
    sys.exit(0)
print("\n".join(lines), end="\n" if lines else "")
sys.exit(1 if lines else 0)
