#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recipes.py: the recipes of Spack, EasyBuild and containers in packaging/ name what the build needs.

The words come from CMakeLists.txt, cmake/DdlrunOptions.cmake and .ci/prepare.sh: the version, each find_package, each option,
each Debian package. package.py runs with functions in the place of Spack's, the easyconfig as EasyBuild runs it.
"""
import contextlib
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
faults = []

# find_package and pkg_check_modules -> (Spack, EasyBuild); None: not in that recipe, for its own reason.
NEEDED = {
    "PkgConfig": ("pkgconfig", "pkgconf"), "fmt": ("fmt", "fmt"), "CLI11": ("cli11", "CLI11"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json"), "yaml-cpp": ("yaml-cpp", "yaml-cpp"),
    "SQLite3": ("sqlite", "SQLite"), "HWLOC": ("hwloc", "hwloc"), "MPI": ("mpi", None), "OneDNN": ("onednn", None),
    "ZLIB": ("zlib-api", None), "OpenSSL": ("openssl", None), "Protobuf": ("protobuf", None), "JPEG": ("jpeg", None),
    "PNG": ("libpng", None), "LMDB": ("lmdb", None),
}
# Of the C library; for tests; for GPUs.
NOT_NEEDED = {"Threads", "doctest", "CUDAToolkit"}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def check(is_right, text):
    if not is_right:
        faults.append(text)


def packages_of_build():
    text = read("cmake/DdlrunOptions.cmake") + read("cmake/DdlrunMpi.cmake")
    names = set(re.findall(r"find_package\(([\w-]+)", text)) | set(re.findall(r"pkg_check_modules\((\w+)", text))
    return {name for name in names if not name.startswith("DDLRUN_PC_")} - NOT_NEEDED


def options_of_build():
    return set(re.findall(r"option\((DDLRUN_\w+)", read("cmake/DdlrunOptions.cmake")))


def check_options(file, options):
    known = options_of_build()
    for option in options:
        check(option in known, f"{file} sets {option}, which is no option")


def run_spack_recipe(path):
    """The first words of the directives of a package.py: depends_on, version, variant; and the CMake options it sets."""
    found = {"depends_on": [], "version": [], "variant": [], "define": []}

    def keep(kind):
        return lambda name, *_, **__: found[kind].append(name)

    names = {kind: keep(kind) for kind in ("depends_on", "version", "variant")}
    names.update(license=lambda *_: None, conflicts=lambda *_: None, when=lambda *_: contextlib.nullcontext())
    cmake = {"CMakePackage": type("CMakePackage", (), {"define": lambda self, name, value: found["define"].append(name),
                                                       "define_from_variant": lambda self, name, variant:
                                                       found["define"].append(name)}),
             "generator": lambda *_: None}
    for module, content in (("spack.package", names), ("spack_repo.builtin.build_systems.cmake", cmake)):
        parts = module.split(".")
        for depth in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:depth]), types.ModuleType(parts[depth - 1]))
        vars(sys.modules[module]).update(content)
    scope = {"__file__": str(path), "__name__": "package"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)  # pylint: disable=exec-used
    scope["Ddlrun"]().cmake_args()
    check(scope["CLONE"] == ROOT, f"the clone of {path} is {scope['CLONE']}")
    return found


def check_spack(version):
    path = PACKAGING / "spack/spack_repo/ddlrun/packages/ddlrun/package.py"
    found = run_spack_recipe(path)
    dependencies = {re.split("[@+~ ]", name)[0] for name in found["depends_on"]}
    for name in packages_of_build():
        check(NEEDED[name][0] in dependencies, f"package.py lacks {NEEDED[name][0]}")
    check(version in found["version"], f"package.py has no version {version}")
    check_options("package.py", found["define"])
    oldest = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)
    check(f"cmake@{oldest}:" in found["depends_on"], f"package.py does not require cmake@{oldest}:")


def check_easybuild(version):
    paths = list((PACKAGING / "easybuild").glob("*.eb"))
    check(len(paths) == 1, f"{len(paths)} easyconfigs")
    recipe = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz", "SYSTEM": None}
    exec(compile(paths[0].read_text(encoding="utf-8"), str(paths[0]), "exec"), recipe)  # pylint: disable=exec-used
    check(recipe["version"] == version, f"{paths[0].name} has version {recipe['version']}, not {version}")
    chain = recipe["toolchain"]
    check(paths[0].name == f"ddlrun-{version}-{chain['name']}-{chain['version']}.eb", f"{paths[0].name} is misnamed")
    dependencies = {row[0] for row in recipe["dependencies"] + recipe["builddependencies"]}
    for name in packages_of_build():
        wanted = NEEDED[name][1]
        check(wanted is None or wanted in dependencies, f"{paths[0].name} lacks {wanted}")
    check_options(paths[0].name, re.findall(r"-D(\w+)=", recipe["configopts"]))


def check_container():
    listed = re.search(r'build_packages="(.*?)"', read(".ci/prepare.sh"), re.S).group(1)
    listed += " ".join(re.findall(r'build_packages\+="(.*?)"', read(".ci/prepare.sh")))
    words = set(read("packaging/container/build.sh").split())
    for package in listed.split():
        check(package in words, f"container/build.sh does not install {package}")
    runs = re.findall(r"^RUN (.*)$", read("packaging/container/Containerfile"), re.M)
    posts = re.findall(r"^%post\n +(.*)$", read("packaging/container/ddlrun.def"), re.M)
    check(len(runs) == 2 and runs == posts, f"Containerfile runs {runs}, ddlrun.def {posts}")


def main():
    version = re.search(r"project\(ddlrun VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)
    unknown = packages_of_build() - set(NEEDED)
    check(not unknown, f"packages without a name in Spack: {unknown}")
    if not unknown:
        check_spack(version)
        check_easybuild(version)
    check_container()
    for text in faults:
        print(text)
    print(f"{len(faults)} faults" if faults else "the recipes name what the build needs")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
