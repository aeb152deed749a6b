#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_timeline.py FILE [RANKS]: a strict reader of the Trace Event Format (Google, "Trace Event Format", 2016),
with a JSON parser that is not ours. Prints what it found as key=value; ends with 1 at the first breach."""
import json
import sys
from collections import defaultdict

PHASES = {"X", "M", "C", "s", "f"}
METADATA = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index",
            "thread_sort_index": "sort_index"}


def fail(what, event=None):
    print(f"BREACH: {what}: {event}")
    sys.exit(1)


def refuse_twice(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        fail("a name twice in one object", names)
    return dict(pairs)


def number(event, name):
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        fail(f"'{name}' is no number", event)
    return value


def check_common(event):
    if event.get("ph") not in PHASES:
        fail("unknown phase", event)
    if not isinstance(event.get("name"), str) or not event["name"]:
        fail("no name", event)
    if not isinstance(event.get("pid"), int) or event["pid"] <= 0:
        fail("no pid", event)
    if event["ph"] in "Xsf" and (not isinstance(event.get("tid"), int) or event["tid"] <= 0):
        fail("no tid", event)
    if event["ph"] != "M":
        number(event, "ts")
    if event["ph"] in "Xsf" and not isinstance(event.get("cat"), str):
        fail("no category", event)
    if "args" in event and not isinstance(event["args"], dict):
        fail("args is no object", event)


def ns(microseconds):
    return round(microseconds * 1000)


def check_nesting(spans):
    """Spans of one thread lie beside or within each other."""
    open_ends = []
    for begin, end, event in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            fail("a span ends after the one that it began in", event)
        open_ends.append(end)


def union(spans, begin, end):
    total, reached = 0, begin
    for a, b in sorted(spans):
        a, b = max(a, reached), min(b, end)
        if b > a:
            total, reached = total + b - a, b
    return total


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file, object_pairs_hook=refuse_twice,
                          parse_constant=lambda text: fail("not a number in JSON", text))
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        fail("no traceEvents", "")
    if trace.get("displayTimeUnit") not in ("ms", "ns"):
        fail("displayTimeUnit", trace.get("displayTimeUnit"))
    names, threads, counters = {}, {}, defaultdict(int)
    spans, starts, ends = defaultdict(list), {}, {}
    for event in trace["traceEvents"]:
        check_common(event)
        phase, at = event["ph"], (event["pid"], event.get("tid"))
        if phase == "M":
            if event["name"] not in METADATA or METADATA[event["name"]] not in event.get("args", {}):
                fail("metadata", event)
            if event["name"] == "process_name":
                names[event["pid"]] = event["args"]["name"]
            if event["name"] == "thread_name":
                threads[at] = event["args"]["name"]
        elif phase == "X":
            if number(event, "dur") < 0:
                fail("a negative duration", event)
            begin = ns(event["ts"])
            spans[at].append((begin, begin + ns(event["dur"]), event))
        elif phase == "C":
            if not event.get("args"):
                fail("a counter without a value", event)
            for value in event["args"]:
                number(event["args"], value)
            counters[event["name"]] += 1
        else:
            table = starts if phase == "s" else ends
            if event["id"] in table:
                fail("an id of an arrow twice", event)
            table[event["id"]] = event
            if phase == "f" and event.get("bp") != "e":
                fail("an arrow that ends at the next span", event)
    if set(starts) != set(ends):
        fail("an arrow with one end", set(starts) ^ set(ends))
    for at, thread in spans.items():
        if at not in threads or at[0] not in names:
            fail("a thread or process without a name", at)
        check_nesting(thread)
    bounds = {at: sorted((a, b) for a, b, _ in thread) for at, thread in spans.items()}
    for table in (starts, ends):
        for event in table.values():
            when = ns(event["ts"])
            if not any(a <= when <= b for a, b in bounds.get((event["pid"], event["tid"]), [])):
                fail("an arrow that touches no span", event)
    for key in starts:
        if starts[key]["ts"] > ends[key]["ts"]:
            fail("an arrow into the past", starts[key])
    report(names, threads, spans, starts, counters)


def report(names, threads, spans, starts, counters):
    # The share of each step in which some lane says what was done, over all steps of all ranks: the least, and that
    # of the best tenth. A rank that loses its core between two spans records nothing for a while; what the program
    # does not report is missing from every step.
    shares, steps, drawn = [], 0, 0
    for pid in names:
        reported = [(a, b) for (owner, tid), thread in spans.items() if owner == pid and threads[owner, tid] != "steps"
                for a, b, _ in thread]
        reported.sort()
        for (owner, tid), thread in spans.items():
            if owner != pid or threads[owner, tid] != "steps":
                continue
            for begin, end, _ in thread:
                steps += 1
                if end > begin and len(shares) < 2000:
                    shares.append(union([span for span in reported if span[1] > begin and span[0] < end], begin, end) /
                                  (end - begin))
    shares.sort()
    lanes = sorted(set(threads.values()))
    count = sum(len(thread) for thread in spans.values())
    print(f"ranks={len(names)} spans={count} steps={steps} arrows={len(starts)} lanes={','.join(lanes)} "
          f"counters={','.join(sorted(counters))} reported={shares[len(shares) * 9 // 10] if shares else 0:.4f} "
          f"least_reported={shares[0] if shares else 0:.4f}")
    for pid in sorted(names):
        print(f"process {names[pid]}")


main()
