#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rules of ARCHITECTURE.md that a machine can check, and prints each breach.

Who includes whom, no cycle between directories at any depth, which file may include a third-party header, effects only
behind the interfaces of base/, every test in a target, file sizes, licence lines, READMEs. Exit status: 0 or 1.
"""
import ast
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import include_graph  # noqa: E402  beside this file

# Every code directory, and the directories that it may include. All other rules run over these directories too.
MAY_INCLUDE = {
    "base": "",
    "topology": "base",
    "doctor": "topology base",
    "launch": "doctor topology base",
    "templates": "topology base",
    "schedulers": "doctor templates topology base",
    "ddl": "",
    "runtime": "ddl base",
    "bench": "ddl base",
    "cli": "bench launch schedulers templates doctor topology base",
    "man": "base",
    "fuzz": "runtime ddl launch schedulers templates doctor topology base",
}
# What the runtime may take of base/: it runs on every rank and starts nothing.
RUNTIME_TAKES = {"error", "text", "yaml_tree", "plugin", "replaced_path", "standard_output",
                 "command_reference", "completion", "write_remedy"}
# Third-party header: files that may include it.
THIRD_PARTY = {
    r"hwloc": r"^topology/hwloc_[a-z_]*\.cpp$",
    r"CLI/": r"^cli/",
    r"nlohmann/": r"_json\.cpp$|^runtime/.*(json|metrics).*\.cpp$",
    r"yaml-cpp/": r"_yaml\.cpp$",
    r"sqlite3": r"_sqlite\.cpp$",
    r"mpi\.h": r"^(ddl/transport/mpi|bench/ddl_bench)/mpi_|^ddl/include/ddl/ddl_mpi\.|^bench/(wire_allreduce\.cpp|simulation/simulated_sum\.cpp|compare/work_mpi\.c)$",
    r"openssl/": r"^ddl/core/openssl_",
    r"gloo/": r"^bench/ddl_bench/gloo_",
    r"(jpeglib|jerror)\.h": r"^runtime/data/jpeg_",
    r"png\.h": r"^runtime/data/png_",
    r"lmdb\.h": r"^runtime/data/lmdb_",
    r"(dnnl|oneapi)": r"^runtime/engine/cpu/",
    r"(cuda|nccl|cublas|cudnn)": r"(^|/)cuda_|^runtime/engine/cuda/|nccl_functions\.hpp$",
    r"(google/protobuf|caffe\.pb\.h)": r"^runtime/caffe/[a-z_]*_protobuf\.[ch]pp$",
    r"doctest": r"^$",
}
# Only base/ and the programs that run on ranks may act on the system directly.
EFFECT = re.compile(r"\b(getenv|system|popen|fork|execvp|posix_spawn|exit|_exit|abort)\("
                    r"|std::(cout|cerr|ofstream|ifstream)\b|\bprintf\(")
MAY_HAVE_EFFECTS = re.compile(r"^(base|ddl|runtime|fuzz)/|^bench/(?!against|predict|scaling)|^topology/(cuda_plugin/|hwloc_)")
MAX_LINES = 400
README_LINES = 30
MAIN_LINES = 20

breaches = []


def breach(text):
    breaches.append(text)


def lines_of(file):
    with open(file, encoding="utf-8") as text:
        return text.read().split("\n")


def code_files():
    return list(include_graph.source_files(MAY_INCLUDE))


def check_includes(files):
    graph = list(include_graph.file_arrows(MAY_INCLUDE))
    for file, included in graph:
        module, target = file.split("/")[0], included.split("/")[0]
        if target != module and target not in MAY_INCLUDE[module].split():
            breach(f"{file}: {module}/ may not include {included}")
        if module == "runtime" and target == "ddl" and not included.startswith("ddl/include/"):
            breach(f"{file}: runtime/ may include only libddl's public headers, not {included}")
        name = os.path.splitext(os.path.basename(included))[0]
        if module == "runtime" and target == "base" and name not in RUNTIME_TAKES:
            breach(f"{file}: of base/, runtime/ may include only {', '.join(sorted(RUNTIME_TAKES))}, not {included}")
    levels = include_graph.level_graphs(graph)
    for place, graph_there in sorted(levels.items()):
        for part in include_graph.cycles(graph_there):
            breach(f"{place or 'top level'}: include cycle between {' '.join(part)} (include_graph.py shows it)")
    known = {os.path.normpath(f) for f in files}
    for file in files:
        for number, line in enumerate(lines_of(file), 1):
            include = re.match(r'#include "([^"]+)"', line)
            if include and include.group(1).split("/")[0] in MAY_INCLUDE and include.group(1) not in known \
                    and not os.path.exists(os.path.join("ddl/include", include.group(1))):
                breach(f"{file}:{number}: {include.group(1)} does not exist")


def check_third_party(files):
    for file in files:
        for number, line in enumerate(lines_of(file), 1):
            for header, allowed in THIRD_PARTY.items():
                if re.match(r"#include <" + header, line) and not re.search(allowed, file):
                    breach(f"{file}:{number}: <{header}> is only for {allowed}")
        text = "\n".join(lines_of(file))
        if "fmt::join(" in text and "#include <fmt/ranges.h>" not in text:  # it is there since fmt 11
            breach(f"{file}: fmt::join needs <fmt/ranges.h>")


def check_effects(files):
    for file in files:
        if MAY_HAVE_EFFECTS.search(file):
            continue
        for number, line in enumerate(lines_of(file), 1):
            if EFFECT.search(line):
                breach(f"{file}:{number}: an effect outside base/: {line.strip()}")


def check_tests():
    listed = {}
    for directory, _, names in os.walk("tests"):
        if "CMakeLists.txt" in names:
            with open(os.path.join(directory, "CMakeLists.txt"), encoding="utf-8") as text:
                listed[directory] = text.read()
    everything = "\n".join(listed.values())
    for directory, _, names in os.walk("tests"):
        for name in sorted(names):
            file = os.path.join(directory, name)
            if name.endswith("_test.cpp"):
                if not any(os.path.relpath(file, at) in text for at, text in listed.items() if file.startswith(at)):
                    breach(f"{file}: in no CMakeLists.txt, so it never runs")
            elif name.endswith(".sh") and directory in ("tests/cli", "tests/mpi", "tests/gpu", "tests/python") and name not in everything:
                breach(f"{file}: in no CMakeLists.txt, so it never runs")
    with open("fuzz/CMakeLists.txt", encoding="utf-8") as text:
        targets = set(re.findall(r"\w+", text.read()))
    for name in sorted(os.listdir("fuzz/targets")):
        if os.path.splitext(name)[0] not in targets:
            breach(f"fuzz/targets/{name}: not in fuzz/CMakeLists.txt, so it never runs")


def check_python():
    """The package takes the standard library alone; what is named torch* takes PyTorch too."""
    for name in sorted(os.listdir("python/ddl")):
        file = os.path.join("python/ddl", name)
        if not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse("\n".join(lines_of(file)))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            for module in (one.split(".")[0] for one in names):
                if module not in sys.stdlib_module_names and not (module == "torch" and name.startswith("torch")):
                    breach(f"{file}:{node.lineno}: {module} is not of Python's standard library")


def check_suites():
    for file in include_graph.source_files(["tests/unit"]):
        suite = os.path.relpath(file, "tests/unit")[:-len("_test.cpp")]
        if file.endswith("_test.cpp") and f'"{suite}"' not in "\n".join(x for x in lines_of(file) if "TEST_SUITE" in x):
            breach(f'{file}: no TEST_SUITE("{suite}")')


def check_texts(files):
    tests = list(include_graph.source_files(["tests"]))
    scripts = [os.path.join(at, name) for at in ("python/ddl", "tests/python") for name in sorted(os.listdir(at))
               if name.endswith((".py", ".py.in", ".sh"))]
    for file in files + tests + scripts:
        lines = lines_of(file)
        if len(lines) - 1 > MAX_LINES:
            breach(f"{file}: {len(lines) - 1} lines, at most {MAX_LINES}")
        if not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
            breach(f"{file}: no SPDX line")
    if len(lines_of("cli/main.cpp")) - 1 > MAIN_LINES:
        breach(f"cli/main.cpp: more than {MAIN_LINES} lines")
    for module in [*MAY_INCLUDE, "python", "tests"]:
        readme = os.path.join(module, "README.md")
        if not os.path.exists(readme):
            breach(f"{readme}: missing")
        elif len(lines_of(readme)) - 1 > README_LINES:
            breach(f"{readme}: more than {README_LINES} lines")
    with open(".clang-tidy", encoding="utf-8") as text:
        tidy = text.read()
    for module in MAY_INCLUDE:
        if not re.search(rf"HeaderFilterRegex:.*\b{module}\b", tidy):
            breach(f".clang-tidy: HeaderFilterRegex omits {module}")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
    files = code_files()
    check_includes(files)
    check_third_party(files)
    check_effects(files)
    check_tests()
    check_python()
    check_suites()
    check_texts(files)
    for text in breaches:
        print(text)
    print(f"{len(breaches)} breaches of the architecture's rules" if breaches else "the architecture's rules hold")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
