#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the build as a user does, and finds no dead relative link in any installed page.

    installed_pages.py            # DDLRUN_BUILD_DIR and DDLRUN_SOURCE_DIR name the build and the source
    installed_pages.py PREFIX     # an installation, such as an unpacked bundle; /usr with the packages
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# What a reader of the source finds by the links of README.md and docs/README.md.
EXPECTED = ("README.md", "README.ko.md", "SECURITY.md", "docs/README.md", "docs/jobs.md", "docs/tutorials/pbs.md",
            "docs/tutorials/ko/pbs.md", "docs/howto/hang.md", "reference/options.md")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page):
    """As GitHub makes them of headings: small letters, blanks as dashes, without other signs."""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            words = line.lstrip("#").strip().lower()
            yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def pages(prefix):
    return sorted(page for folder in ("share/doc/ddlrun", "share/ddlrun") for page in (prefix / folder).rglob("*.md"))


def dead_links(prefix):
    links = 0
    for page in pages(prefix):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("    "):  # code
                continue
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                links += 1
                file, _, anchor = target.partition("#")
                other = page.parent / file if file else page
                where = f"{page.relative_to(prefix)}:{number}"
                if not other.exists():
                    yield f"{where}: nothing is at {target}"
                elif anchor and anchor not in anchors(other):
                    yield f"{where}: {file or page.name} has no heading #{anchor}"
    if links < 100:
        yield f"only {links} links"


def check(prefix):
    documents = prefix / "share/doc/ddlrun"
    faults = [f"no share/doc/ddlrun/{name}" for name in EXPECTED if not (documents / name).is_file()]
    if not any((documents / name).is_file() for name in ("LICENSE", "copyright")):
        faults.append("no licence in share/doc/ddlrun")
    faults += dead_links(prefix)
    for fault in faults:
        print(fault)
    print(f"{len(pages(prefix))} pages, {len(faults)} faults")
    return 1 if faults else 0


def main():
    if len(sys.argv) > 1:
        return check(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as name:
        for component in ("ddlrun", "libddl"):
            subprocess.run(["cmake", "--install", os.environ["DDLRUN_BUILD_DIR"], "--component", component, "--prefix", name],
                           check=True, stdout=subprocess.DEVNULL)
        return check(Path(name))


if __name__ == "__main__":
    sys.exit(main())
