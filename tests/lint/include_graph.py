#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the include graph between directories and fails where it has a cycle.

include_graph.py [--arrows] DIRECTORY...

A node is a directory; at each depth the graph joins the sub-directories of one directory, and "." stands for the files
that lie in that directory itself. An arrow A -> B exists where a file below A includes a file below B.
--arrows prints every arrow between the given directories. Exit status: 0 without a cycle, 1 with one.
"""
import collections
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([A-Za-z0-9_./-]+)[>"]', re.M)
SOURCES = (".cpp", ".hpp", ".h", ".c", ".cu", ".cuh")


def source_files(directories):
    for directory in directories:
        for directory, _, names in os.walk(directory):
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.normpath(os.path.join(directory, name))


def file_arrows(directories):
    """(file, included file) for every include of a file of these directories."""
    files = set(source_files(directories))
    # A public header is included as <ddl/x.hpp> and lies in ddl/include/ddl/x.hpp.
    public = {f.split("/include/", 1)[1]: f for f in files if "/include/" in f}
    for file in sorted(files):
        with open(file, encoding="utf-8") as text:
            for included in INCLUDE.findall(text.read()):
                target = next((t for t in (os.path.normpath(included), public.get(included),
                                           os.path.normpath(os.path.join(os.path.dirname(file), included)))
                               if t in files), None)
                if target:
                    yield file, target


def level_graphs(arrows):
    """For every directory: {child: {child: example}}, where a child is a sub-directory or "." for its own files."""
    levels = collections.defaultdict(lambda: collections.defaultdict(dict))
    for source, target in arrows:
        a, b = source.split("/"), target.split("/")
        depth = 0
        while depth < min(len(a), len(b)) - 1 and a[depth] == b[depth]:
            depth += 1
        child_a = a[depth] if depth < len(a) - 1 else "."
        child_b = b[depth] if depth < len(b) - 1 else "."
        if child_a != child_b:
            levels["/".join(a[:depth])][child_a].setdefault(child_b, []).append((source, target))
    return levels


def cycles(graph):
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, {}):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            part = []
            while True:
                part.append(stack.pop())
                if part[-1] == node:
                    break
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def main(arguments):
    show = "--arrows" in arguments
    directories = [a.rstrip("/") for a in arguments if a != "--arrows"]
    levels = level_graphs(file_arrows(directories))
    top = levels.get("", {})
    print(f"{sum(len(t) for t in top.values())} arrows between {len(directories)} directories")
    if show:
        for a in sorted(top):
            print(f"  {a} -> {' '.join(sorted(top[a]))}")
    bad = 0
    for place in sorted(levels):
        for part in cycles(levels[place]):
            bad += 1
            print(f"cycle in {place or 'the top level'}: {' '.join(part)}")
            for a in part:
                for b in sorted(set(levels[place][a]) & set(part)):
                    examples = levels[place][a][b]
                    print(f"  {a} -> {b}: {len(examples)} includes, e.g. {examples[0][0]} -> {examples[0][1]}")
    print(f"{bad} cycles between directories at any depth")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
