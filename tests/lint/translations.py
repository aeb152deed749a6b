#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""translations.py [--copy]: each Korean page agrees with its English original, as far as a program can compare them.

Pages: README.ko.md and docs/tutorials/ko/*.md. Section by section, both have the same code blocks to the byte, the same words
in `code`, links to the same pages, and as many table rows. Each number of an English section is in the Korean one. A
difference is a breach. --copy writes the code blocks of the originals into pages that have as many; the rest is a
translator's work.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HANGUL = re.compile(r"[\uac00-\ud7a3]")
breaches = []


def pages():
    """(original, translation) of each page."""
    yield ROOT / "README.md", ROOT / "README.ko.md"
    directory = ROOT / "docs/tutorials"
    for page in sorted((directory / "ko").glob("*.md")):
        yield directory / page.name, page


def split(text):
    """A page as [is_code, text] parts in their order; an empty line between two indented lines is code."""
    parts = []
    lines = text.split("\n")
    for index, line in enumerate(lines):
        following = next((other for other in lines[index:] if other), "")
        is_code = line.startswith("    ") or (not line and bool(parts) and parts[-1][0] and following.startswith("    "))
        if parts and parts[-1][0] == is_code:
            parts[-1][1].append(line)
        else:
            parts.append((is_code, [line]))
    return [(is_code, "\n".join(block)) for is_code, block in parts]


def sections(text):
    """[(heading, parts)] of a page: a heading is a line of prose that starts with "#"."""
    found = [("the beginning", [])]
    for is_code, part in split(text):
        if is_code:
            found[-1][1].append((True, part))
            continue
        prose = []
        for line in part.split("\n"):
            if line.startswith("#"):
                found[-1][1].append((False, "\n".join(prose)))
                found.append((line, []))
                prose = []
            else:
                prose.append(line)
        found[-1][1].append((False, "\n".join(prose)))
    return found


def prose_of(parts):
    return "\n".join(part for is_code, part in parts if not is_code)


def blocks(parts):
    return [part for is_code, part in parts if is_code]


def links(page, prose):
    """Where the links lead, from the root; a link to a translation counts as one to its original."""
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not re.match(r"\w+:", target):
            path, _, anchor = target.partition("#")
            file = os.path.relpath((page.parent / path).resolve(), ROOT)
            if not (ROOT / file).exists():
                breaches.append(f"{page.relative_to(ROOT)}: no file {target}")
            target = re.sub(r"(\.ko)(?=\.md$)|\bko/(?=\w+\.md$)", "", file) + (f"#{anchor}" if anchor else "")
        found.append(target)
    return sorted(found)


def code_words(prose):
    return sorted(re.sub(r"\s+", " ", word) for word in re.findall(r"`([^`]+)`", prose))


def numbers(prose):
    """Without those of links and of `code`, which are compared as such."""
    prose = re.sub(r"\]\([^)]*\)|`[^`]+`", " ", prose)
    return set(re.findall(r"(?<![\w.])\d+(?:[.,]\d+)*", prose))


def rows(prose):
    return sum(line.startswith("|") for line in prose.split("\n"))


def differences(original, translation, english, korean):
    """What section `korean` lacks or has beyond `english`."""
    mine, theirs = prose_of(korean), prose_of(english)
    for index, (wanted, found) in enumerate(zip(blocks(english), blocks(korean))):
        if wanted != found:
            yield f"code block {index + 1} differs; the original's (--copy copies it):\n{wanted}"
    for name, wanted, found in (("code blocks", len(blocks(english)), len(blocks(korean))),
                                ("table rows", rows(theirs), rows(mine))):
        if wanted != found:
            yield f"{found} {name}, the original has {wanted}"
    for name, wanted, found in (("`code`", code_words(theirs), code_words(mine)),
                                ("links", links(original, theirs), links(translation, mine))):
        lacking = [word for word in wanted if wanted.count(word) > found.count(word)]
        more = [word for word in found if found.count(word) > wanted.count(word)]
        if lacking or more:
            yield f"{name}: lacking {sorted(set(lacking))}, only here {sorted(set(more))}"
    if not numbers(theirs) <= numbers(mine):
        yield f"numbers of the original that are not here: {sorted(numbers(theirs) - numbers(mine))}"
    if len(theirs.split()) > 5 and not HANGUL.search(mine):
        yield "no Korean text"


def compare(original, translation):
    name = translation.relative_to(ROOT)
    if not original.exists() or not translation.exists():
        breaches.append(f"{name}: {original.relative_to(ROOT)} or its translation is missing")
        return
    english = sections(original.read_text(encoding="utf-8"))
    korean = sections(translation.read_text(encoding="utf-8"))
    levels = [[heading.split(" ")[0] for heading, _ in page] for page in (english, korean)]
    if levels[0] != levels[1]:
        breaches.append(f"{name}: {len(korean) - 1} headings, or other levels; the original has {len(english) - 1}")
        return
    for (heading, wanted), (mine, found) in zip(english, korean):
        breaches.extend(f"{name}: {mine} ({heading}): {text}" for text in differences(original, translation, wanted, found))


def copy_blocks(original, translation):
    wanted = blocks(split(original.read_text(encoding="utf-8")))
    parts = split(translation.read_text(encoding="utf-8"))
    if len(blocks(parts)) == len(wanted):
        copies = iter(wanted)
        text = "\n".join(next(copies) if is_code else part for is_code, part in parts)
        translation.write_text(text, encoding="utf-8")


def main():
    found = list(pages())
    for original, translation in found:
        if "--copy" in sys.argv[1:] and original.exists() and translation.exists():
            copy_blocks(original, translation)
        compare(original, translation)
    for text in breaches:
        print(text)
    print(f"{len(breaches)} differences" if breaches else f"{len(found)} pages agree with their originals")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
