# SPDX-License-Identifier: MIT
"""Finds and loads libddl.so, once, and describes the functions of ddl.h to ctypes."""
import ctypes
import functools
import glob
import os
import re
import shutil
import stat

from .errors import OF_STATUS, Error, UnsupportedError, failure
from .version import LIBRARY, VERSION

# Where libddl.so lies, from the directory above bin: as installed, and in a build directory.
BELOW_PREFIX = ("lib", "lib64", "lib/*-linux-gnu*", "ddl")

POINTER, SIZE, NUMBER, TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p
DATA = (POINTER, POINTER, SIZE, NUMBER)  # context, data, count, type
IN_OUT = (POINTER, POINTER, POINTER, SIZE, NUMBER)  # context, in, out, count, type
STATUS_FUNCTIONS = {
    "ddl_init": (POINTER, POINTER, TEXT, POINTER),
    "ddl_finalize": (POINTER,),
    "ddl_broadcast": (*DATA, NUMBER),
    "ddl_all_reduce": (*DATA, NUMBER),
    "ddl_reduce": (*DATA, NUMBER, NUMBER),
    "ddl_reduce_scatter": (*IN_OUT, NUMBER),
    "ddl_all_gather": IN_OUT,
    "ddl_scatter": (*IN_OUT, NUMBER),
    "ddl_gather": (*IN_OUT, NUMBER),
    "ddl_barrier": (POINTER,),
    "ddl_start_all_reduce": (*DATA, NUMBER, POINTER),
    "ddl_start_reduce": (*DATA, NUMBER, NUMBER, POINTER),
    "ddl_start_broadcast": (*DATA, NUMBER, POINTER),
    "ddl_wait": (POINTER,),
    "ddl_gpu_broadcast": (*DATA, NUMBER, POINTER),
    "ddl_gpu_all_reduce": (*DATA, NUMBER, POINTER),
    "ddl_gpu_reduce": (*DATA, NUMBER, NUMBER, POINTER),
    "ddl_gpu_reduce_scatter": (*IN_OUT, NUMBER, POINTER),
    "ddl_gpu_all_gather": (*IN_OUT, POINTER),
    "ddl_gpu_start_all_reduce": (*DATA, NUMBER, POINTER, POINTER),
}
OTHER_FUNCTIONS = {
    "ddl_abandon": ((POINTER, TEXT), None),
    "ddl_last_error": ((), TEXT),
    "ddl_version": ((), TEXT),
    "ddl_rank": ((POINTER,), NUMBER),
    "ddl_size": ((POINTER,), NUMBER),
    "ddl_local_rank": ((POINTER,), NUMBER),
    "ddl_local_size": ((POINTER,), NUMBER),
    "ddl_done": ((POINTER,), NUMBER),
    "ddl_device": ((POINTER,), TEXT),
}


def is_replaceable(path):
    """Whether any user may exchange the file at this real path, as base/os/path_owner.hpp of ddlrun has it: below a directory
    in which every user may create files, each name must belong to this user or root."""
    at, is_shared = "/", False
    for name in path.split("/")[1:]:
        at = os.path.join(at, name)
        found = os.stat(at)
        if is_shared and found.st_uid not in (0, os.geteuid()):
            return True
        if found.st_mode & stat.S_IWOTH:
            if not stat.S_ISDIR(found.st_mode) or not found.st_mode & stat.S_ISVTX:
                return True
            is_shared = True
    return False


def prefix_of(package):
    """The installation with this package; "" where the package lies elsewhere, as in a directory of the user's."""
    found = re.fullmatch("(/.*)/(share/ddlrun/python|lib(?:64)?/(?:python|pypy)3[0-9.]*t?/(site|dist)-packages)/ddl", package)
    return found[1] if found else ""


def candidates(environment, package, ddlrun):
    """Files that may be libddl.so, best first; the last is a name for the loader (ldconfig)."""
    if environment.get("DDL_LIBRARY"):
        return [environment["DDL_LIBRARY"]]
    prefixes = [prefix_of(package)] if prefix_of(package) else []
    if ddlrun:
        prefixes.append(os.path.join(os.path.dirname(os.path.realpath(ddlrun)), ".."))
    prefixes.append("/opt/ddlrun")
    named = [os.path.join(place, LIBRARY) for place in environment.get("LD_LIBRARY_PATH", "").split(":") if place]
    found = [path for path in named if os.path.exists(path)]
    near = [os.path.realpath(path) for prefix in prefixes for below in BELOW_PREFIX
            for path in sorted(glob.glob(os.path.join(glob.escape(prefix), below, LIBRARY)))]
    # The user has named the others.
    return [*map(os.path.normpath, found), *(path for path in near if not is_replaceable(path)), LIBRARY]


def declare(library):
    for name, arguments in STATUS_FUNCTIONS.items():
        getattr(library, name).argtypes, getattr(library, name).restype = arguments, NUMBER
    for name, (arguments, result) in OTHER_FUNCTIONS.items():
        getattr(library, name).argtypes, getattr(library, name).restype = arguments, result


def require_version(found, place):
    """Before version 1.0 the interface is that of the minor version."""
    if found.split(".")[:2] != VERSION.split(".")[:2]:
        raise failure(UnsupportedError, f"libddl is of version {found}, this package of {VERSION}", place,
                      "the wheel in share/ddlrun/python of the same installation")


def open_library(place):
    try:
        library = ctypes.CDLL(place)
        declare(library)
    except OSError as error:
        hint = "ls -l, and ldd" if os.environ.get("DDL_LIBRARY") else \
            "PATH with the bin directory of ddlrun, or DDL_LIBRARY=/path/to/" + LIBRARY
        raise failure(UnsupportedError, f"libddl cannot be loaded: {error}", place, hint) from error
    except AttributeError as error:
        raise failure(UnsupportedError, f"{place} is not libddl {VERSION}: {error}", place,
                      "a libddl of the same version as this package") from error
    require_version(library.ddl_version().decode(), place)
    return library


@functools.lru_cache(maxsize=None)
def load():
    """The first that fits: an older installation may lie where another one is looked for. Else the first error."""
    first = None
    for place in candidates(os.environ, os.path.dirname(os.path.realpath(__file__)), shutil.which("ddlrun")):
        try:
            return open_library(place)
        except UnsupportedError as error:
            first = first or error
    raise first


def call(name, *arguments):
    """Calls a function that returns a status, and raises the error that it reports."""
    library = load()
    status = getattr(library, name)(*arguments)
    if status:
        raise OF_STATUS.get(status, Error)(library.ddl_last_error().decode(errors="replace"))
