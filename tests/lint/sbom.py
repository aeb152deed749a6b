#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The document of cmake/sbom.py has what SPDX 2.3 requires (annex "JSON schema"), and names each library that the program
ddlrun loads. Expected libraries come from readelf."""
import json
import os
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE, PROGRAM = (os.environ[name] for name in ("DDLRUN_BUILD_DIR", "DDLRUN_SOURCE_DIR", "DDLRUN"))
RELATIONS = {"DESCRIBES", "DYNAMIC_LINK", "STATIC_LINK", "BUILD_DEPENDENCY_OF"}


def make(epoch):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "sbom.json")
        made = subprocess.run([os.path.join(SOURCE, "cmake/sbom.py"), BUILD, "1.2.3", path, PROGRAM], check=False,
                              stderr=subprocess.PIPE, text=True, env=dict(os.environ, SOURCE_DATE_EPOCH=epoch))
        if "one of them is missing" in made.stderr:
            print("skipped: " + made.stderr.splitlines()[0])
            sys.exit(125)
        assert made.returncode == 0, made.stderr
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def check_required(document):
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    assert document["SPDXID"] == "SPDXRef-DOCUMENT" and document["name"]
    assert re.fullmatch(r"https://[^#]+", document["documentNamespace"])
    assert document["creationInfo"]["created"] == "2001-09-09T01:46:40Z", document["creationInfo"]
    assert all(re.match(r"(Tool|Person|Organization): \S", one) for one in document["creationInfo"]["creators"])


def check_packages(document):
    names = {}
    for package in document["packages"]:
        assert package["name"] and package["downloadLocation"] and package["versionInfo"], package
        assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]), package
        assert re.match(r"(NOASSERTION$|Organization: \S)", package["supplier"]), package
        assert re.fullmatch(r"[A-Za-z0-9.+-]+", package["licenseDeclared"]), package
        assert package["filesAnalyzed"] is False, package
        assert package["SPDXID"] not in names, "twice: " + package["SPDXID"]
        names[package["SPDXID"]] = package["name"]
    return names


def check_relationships(document, names):
    linked = set()
    for one in document["relationships"]:
        assert one["relationshipType"] in RELATIONS, one
        assert one["relatedSpdxElement"] in names and (one["spdxElementId"] in names or one["spdxElementId"] == "SPDXRef-DOCUMENT")
        linked.update((one["spdxElementId"], one["relatedSpdxElement"]))
    assert set(names) <= linked, "parts without a relation: " + str(set(names) - linked)
    assert ("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-ddlrun") in {
        (one["spdxElementId"], one["relationshipType"], one["relatedSpdxElement"]) for one in document["relationships"]}


def main():
    document = make("1000000000")
    check_required(document)
    names = check_packages(document)
    check_relationships(document, names)
    needed = re.findall(r"\(NEEDED\).*\[lib([a-z+]+)", subprocess.run(
        ["readelf", "-d", PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout)
    for name in needed + ["cli", "nlohmann-json"]:  # the last two are headers only
        assert any(name in part.replace("lib", "", 1).replace("gcc-s", "gcc_s") for part in names.values()), name
    assert make("1000000000") == document, "another document from the same build"
    print(f"{len(names)} parts")


if __name__ == "__main__":
    main()
