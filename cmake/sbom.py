#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py BUILD VERSION OUTPUT FILE...: the parts of the built FILEs, as SPDX 2.3 in JSON. A part is this project, a Debian
package whose library a FILE loads or contains, or one whose headers were compiled. BUILD is a Ninja build directory."""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

# Debian's short names that differ from SPDX's, for the parts that the project has or could have.
SPDX_NAMES = {"expat": "MIT", "x11": "X11", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
              "bsd-3-clause~google": "BSD-3-Clause", "mit": "MIT", "zlib": "Zlib", "libpng": "Libpng",
              "apache-2.0": "Apache-2.0", "asl-2.0": "Apache-2.0", "openldap-2.8": "OLDAP-2.8", "boost-1.0": "BSL-1.0"}


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


def loaded_libraries(file):
    """The paths of the libraries that the file itself needs, not of those that these need."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", file))
    listed = output_of("ldd", file)
    found = dict(re.findall(r"(\S+) => (/\S+)", listed))
    loader = re.findall(r"^\s*(/\S*/ld-\S+)", listed, re.M)
    found.update({os.path.basename(path): path for path in loader})
    return {found.get(name, name) for name in needed}


def contained_libraries(build, file):
    link = output_of("ninja", "-C", build, "-t", "commands", "-s", os.path.relpath(file, build))
    return {word for word in link.split() if word.startswith("/") and word.endswith(".a")}


def compiled_headers(build):
    """The headers of the compiler and of packages: ninja's record of what the compiler read."""
    headers, ours = set(), False
    for line in output_of("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            ours = not line.startswith("tests/")
        elif ours and line.strip().startswith("/usr/"):
            headers.add(os.path.normpath(line.strip()))
    return headers


def packages_of(paths):
    """{path: Debian package}; a path that no package has is its own."""
    owners = {}
    asked = {}  # several paths may be one file: /lib and /usr/lib
    for path in paths:
        real = os.path.realpath(path)
        for name in {path, real, real.removeprefix("/usr"), path.removeprefix("/usr")}:  # before and after usrmerge
            asked.setdefault(name, []).append(path)
    names = sorted(asked)
    for first in range(0, len(names), 500):
        for line in output_of("dpkg-query", "-S", *names[first:first + 500]).splitlines():
            package, _, name = line.partition(": ")
            if name in asked and not package.startswith("diversion"):
                owners.update(dict.fromkeys(asked[name], package.split(",")[0]))
    return {path: owners.get(path, path) for path in paths}


def licence_of(name):
    """(SPDX expression, all names) by the package's copyright file; the first is that of most of its files."""
    try:
        with open(f"/usr/share/doc/{name}/copyright", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return "NOASSERTION", []
    names = sorted(set(re.findall(r"^License: *(\S.*)$", text, re.M)))
    main = re.search(r"^Files: *\*\s*\n(?:.+\n)*?License: *(\S.*)$", text, re.M)
    spdx = SPDX_NAMES.get(main.group(1).strip().lower()) if main else None
    return spdx or "NOASSERTION", names


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def describe(name, version, **more):
    return {"name": name, "SPDXID": identifier(name), "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION", **more}


def describe_package(name):
    if name.startswith("/") or not (fields := output_of(
            "dpkg-query", "-W", "-f=${Package}\t${Version}\t${Architecture}\t${Maintainer}", name).split("\t"))[0]:
        base = os.path.basename(name)
        return describe(base, "NOASSERTION", licenseDeclared="NOASSERTION", supplier="NOASSERTION",
                        comment="no Debian package has this file")
    package, version, architecture, maintainer = fields
    licence, names = licence_of(package)
    described = describe(package, version, licenseDeclared=licence, supplier=re.sub(r"(.*?) *<(.*)>", r"Organization: \1 (\2)", maintainer))
    where = f"/usr/share/doc/{package}/copyright"
    described["licenseComments"] = where + (" lists: " + "; ".join(names) if names else " is not machine-readable")
    url = f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"
    described["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}]
    return described


def make_document(build, version, files):
    loaded = set().union(*(loaded_libraries(file) for file in files))
    contained = set().union(*(contained_libraries(build, file) for file in files))
    headers = compiled_headers(build)
    owners = packages_of(loaded | contained | headers)
    linked_statically = {owners[path] for path in contained}
    relations = {owners[path]: "BUILD_DEPENDENCY_OF" for path in headers if owners[path] != path}
    relations.update({owners[path]: "DYNAMIC_LINK" for path in loaded})
    relations.update({package: "STATIC_LINK" for package in linked_statically})
    project = describe("ddlrun", version, licenseDeclared="MIT", supplier="NOASSERTION",
                       comment="built files: " + ", ".join(sorted(os.path.basename(file) for file in files)))
    described = {name: describe_package(name) for name in relations}
    packages = [project] + sorted(described.values(), key=lambda one: one["SPDXID"])
    relationships = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                      "relatedSpdxElement": project["SPDXID"]}]
    for name, relation in sorted(relations.items()):
        ends = (described[name]["SPDXID"], project["SPDXID"])
        if relation != "BUILD_DEPENDENCY_OF":
            ends = ends[::-1]
        relationships.append({"spdxElementId": ends[0], "relationshipType": relation, "relatedSpdxElement": ends[1]})
    content = json.dumps([packages, relationships], sort_keys=True)
    created = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"ddlrun-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/ddlrun-{version}-" + hashlib.sha256(content.encode()).hexdigest(),
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(created)),
                             "creators": [f"Tool: ddlrun-sbom-{version}"]},
            "packages": packages, "relationships": relationships}


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    build, version, output, *files = sys.argv[1:]
    if not os.path.exists(os.path.join(build, "build.ninja")) or not output_of("dpkg-query", "-W", "dpkg"):
        sys.exit("error: the parts are known from Ninja and Debian's dpkg, and one of them is missing\n"
                 f"  at:  {build}\n  try: cmake --preset release -G Ninja, on Debian or Ubuntu")
    with open(output, "w", encoding="utf-8") as file:
        json.dump(make_document(build, version, files), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
