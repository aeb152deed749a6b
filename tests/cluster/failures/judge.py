#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""judge.py DIRECTORY...: are the diagnoses of these logs the ones expected? A directory has the files "expected", lines
"key value", and "diagnosis", the JSON of `ddlrun diagnose --json`. Prints a line for each: what was named and "named",
"shown" where no signature was named but the lines that tell the cause are shown, or WRONG and why."""
import json
import sys


def expectation(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(" ", 1) for line in file if " " in line.strip())


def place(found):
    found = found or {}
    found = found.get("at", found)
    return found.get("host") or "", found.get("rank")


def texts(diagnosis):
    """All lines that are shown as the reason."""
    cause, first = diagnosis.get("cause") or {}, diagnosis.get("first_failing") or {}
    lines = list(cause.get("evidence") or [])
    if not cause:
        lines += diagnosis.get("salient_lines") or []
    if first.get("evidence"):
        lines.append(first["evidence"])
    return "\n".join([" ".join(line["text"].split()) for line in lines] + [first.get("how", "")])


def faults(expected, diagnosis):
    cause = diagnosis.get("cause") or {}
    first = diagnosis.get("first_failing") or {}
    named = cause.get("id", "none")
    causes = expected["causes"].split("|")
    by_status = cause.get("class") == "N"  # "nothing in the log says why" is wrong where the log has the evidence
    shown = "-" in causes and not by_status and any(words in texts(diagnosis) for words in expected["evidence"].split("|"))
    if named == "none" and "none" in causes and diagnosis["verdict"] not in ("no-trouble", "nothing-found"):
        yield "there is no trouble"
    if named not in causes and not shown:
        yield "the cause is %s %s" % (expected["causes"], expected.get("evidence", ""))
    host, rank = place(cause)
    first_host, first_rank = place(first)
    wanted = expected.get("host", "-")
    if wanted != "-" and (host or first_host) != wanted:
        yield "the host is %s" % wanted
    wanted = expected.get("rank", "-")
    if wanted != "-" and str(rank if rank is not None else first_rank) != wanted:
        yield "the rank is %s" % wanted


def verdict(directory):
    expected = expectation(directory + "/expected")
    try:
        with open(directory + "/diagnosis", encoding="utf-8") as file:
            diagnosis = json.load(file)
    except ValueError as error:
        return "WRONG: no diagnosis: %s" % error
    wrong = list(faults(expected, diagnosis))
    cause = diagnosis.get("cause")
    host, rank = place(cause)
    if not host and rank is None:
        host, rank = place(diagnosis.get("first_failing"))
    named = "named" if cause or expected["causes"] == "none" else "shown"
    return "%-8s host %-6s rank %-4s %s" % ((cause or {}).get("id", "none"), host or "-", "-" if rank is None else rank,
                                            "WRONG: " + "; ".join(wrong) if wrong else named)


for name in sys.argv[1:]:
    print(verdict(name))
