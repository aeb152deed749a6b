# SPDX-License-Identifier: MIT
"""What needs no other rank: arrays, places of launchers, where libddl is looked for, names of what is imported."""
import array
import os
import re
import subprocess
import sys
import tempfile
import unittest

import ddl
from ddl import launch, library, memory
from ddl.version import LIBRARY, VERSION

try:
    import numpy
except ImportError:
    numpy = None


class Memory(unittest.TestCase):
    def test_buffers(self):
        for letter, name in (("f", "float32"), ("d", "float64"), ("i", "int32"), ("q", "int64"), ("B", "uint8")):
            values = array.array(letter, [1, 2, 3])
            found = memory.memory_of(values)
            self.assertEqual((found.address, found.count, found.type), (values.buffer_info()[0], 3, name))
        self.assertEqual(memory.memory_of(bytearray(5)).count, 5)
        self.assertEqual(memory.memory_of(bytearray()).count, 0)

    def test_what_is_refused(self):
        for value, text in (([1.0, 2.0], "is of list, which has no memory"), (b"12", "is read-only"),
                            (array.array("h", [1]), "which libddl does not have"), ("text", "is of str"),
                            (memoryview(array.array("f", range(6)))[::2], "is not contiguous"), (None, "NoneType")):
            with self.subTest(value), self.assertRaisesRegex(ddl.UsageError, text):
                memory.memory_of(value)

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_numpy(self):
        for name in ("float32", "float64", "float16", "int32", "int64", "uint8"):
            values = numpy.ones((2, 3), name)
            found = memory.memory_of(values)
            self.assertEqual((found.address, found.count, found.type), (values.ctypes.data, 6, name))
        self.assertEqual(memory.memory_of(numpy.array(1.0)).count, 1)
        frozen = numpy.ones(3)
        frozen.flags.writeable = False
        for value, text in ((numpy.ones((2, 3)).T, r"shape \(3, 2\) is not contiguous.*ascontiguousarray"),
                            (numpy.ones(3, ">f4"), ">f4"), (numpy.ones(3, "int16"), "int16"), (numpy.ones(3, bool), "bool"),
                            (frozen, "read-only"), (numpy.float32(1), "no memory to work in|read-only")):
            with self.subTest(value), self.assertRaisesRegex(ddl.UsageError, text):
                memory.memory_of(value)
        self.assertEqual(memory.memory_of(frozen, is_written=False).count, 3)


class Launch(unittest.TestCase):
    def test_launchers(self):
        torchrun = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "GROUP_WORLD_SIZE": "2"}
        openmpi = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                   "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
        ours = {"DDLRUN_RANK": "3", "DDLRUN_SIZE": "4", "DDLRUN_LOCAL_RANK": "1", "DDLRUN_LOCAL_SIZE": "2", "DDLRUN_NODE_COUNT": "2"}
        hydra = {"PMI_RANK": "2", "PMI_SIZE": "4", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "2"}
        step = {"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "0", "SLURM_STEP_NUM_NODES": "2"}
        script = {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_LOCALID": "0"}
        by_hand = {"DDL_RANK": "1", "DDL_SIZE": "2", "DDL_MASTER": "h1:29400"}
        for environment, expected in (
                ({}, ("", 0, 1, 0, 1, 1)),
                (script, ("", 0, 1, 0, 1, 1)),
                (openmpi, ("openmpi", 3, 4, 1, 2, None)),
                ({**openmpi, **ours}, ("ddlrun", 3, 4, 1, 2, 2)),
                ({**openmpi, **script}, ("openmpi", 3, 4, 1, 2, None)),
                (hydra, ("hydra", 2, 4, 0, 2, None)),
                (step, ("srun", 2, 4, 0, None, 2)),
                ({**step, "PMI_RANK": "2", "PMI_SIZE": "4"}, ("srun", 2, 4, 0, None, 2)),
                # ddlrun sets them too, and is not torchrun.
                (torchrun, ("", 0, 1, 0, 1, 1)),
                ({**torchrun, "TORCHELASTIC_RUN_ID": "none"}, ("torchrun", 1, 4, 1, 2, 2)),
                # One torchrun on each host, started by srun.
                ({**torchrun, **step, "SLURM_STEP_NUM_TASKS": "3", "TORCHELASTIC_RUN_ID": "none"}, ("torchrun", 1, 4, 1, 2, 2)),
                (by_hand, ("tcp", 1, 2, None, None, None)),
                ({**by_hand, **ours, "DDLRUN_RANK": "1", "DDLRUN_SIZE": "2"}, ("tcp", 1, 2, 1, 2, 2)),
                ({"DDL_RANK": "1", "DDL_SIZE": "2"}, ("", 0, 1, 0, 1, 1)),
                ({"OMPI_COMM_WORLD_RANK": "x", "OMPI_COMM_WORLD_SIZE": "4"}, ("", 0, 1, 0, 1, 1)),
                ({"OMPI_COMM_WORLD_RANK": "4", "OMPI_COMM_WORLD_SIZE": "4"}, ("", 0, 1, 0, 1, 1))):
            with self.subTest(environment):
                self.assertEqual(launch.place_of(environment), expected)


class Library(unittest.TestCase):
    def test_places(self):
        with tempfile.TemporaryDirectory() as prefix:
            def touch(path):
                os.makedirs(os.path.join(prefix, os.path.dirname(path)), exist_ok=True)
                open(os.path.join(prefix, path), "w", encoding="utf-8").close()
                return os.path.join(os.path.realpath(prefix), path)

            ddlrun = touch("bin/ddlrun")
            self.assertEqual(library.candidates({}, "/x/ddl", None)[-1], LIBRARY)
            for place in ("ddl", "lib/x86_64-linux-gnu", "lib64", "lib"):  # each before those of the lines above it
                expected = touch(f"{place}/{LIBRARY}")
                self.assertEqual(library.candidates({}, "/x/ddl", ddlrun)[0], expected)
            package = os.path.join(os.path.realpath(prefix), "share/ddlrun/python/ddl")
            os.makedirs(package)
            self.assertEqual(library.candidates({}, package, None)[0], os.path.join(os.path.realpath(prefix), "lib", LIBRARY))
            named = {"LD_LIBRARY_PATH": f"/nonexistent::{os.path.realpath(prefix)}/ddl"}
            self.assertEqual(library.candidates(named, package, None)[0], os.path.join(os.path.realpath(prefix), "ddl", LIBRARY))
            self.assertEqual(library.candidates({"DDL_LIBRARY": "/x"}, package, ddlrun), ["/x"])
            for below, expected in (("lib/python3.11/site-packages", prefix), ("lib/python3/dist-packages", prefix),
                                    ("lib64/python3.9/site-packages", prefix), ("a/b/c", None), ("share/ddlrun/x", None)):
                found = library.candidates({}, os.path.join(os.path.realpath(prefix), below, "ddl"), None)
                self.assertEqual(found[0], os.path.join(os.path.realpath(expected), "lib", LIBRARY) if expected else LIBRARY)

    def test_a_place_where_other_users_may_write(self):
        with tempfile.TemporaryDirectory() as top:
            prefix = os.path.join(os.path.realpath(top), "prefix")
            os.makedirs(os.path.join(prefix, "lib"))
            file = os.path.join(prefix, "lib", LIBRARY)
            open(file, "w", encoding="utf-8").close()
            package = os.path.join(prefix, "share/ddlrun/python/ddl")
            self.assertEqual(library.candidates({}, package, None)[0], file)
            for path, mode in ((file, 0o666), (os.path.dirname(file), 0o777), (prefix, 0o777), (top, 0o777)):
                usual = os.stat(path).st_mode & 0o7777
                os.chmod(path, mode)
                self.assertEqual(library.candidates({}, package, None), [LIBRARY], path)
                os.chmod(path, usual)
            os.chmod(top, 0o1777)
            self.assertEqual(library.candidates({}, package, None)[0], file)
            if os.geteuid() == 0:
                os.chown(prefix, 65534, -1)
                self.assertEqual(library.candidates({}, package, None), [LIBRARY])

    def test_versions(self):
        major, minor, _ = VERSION.split(".")
        library.require_version(f"{major}.{minor}.99", "x")
        with self.assertRaisesRegex(ddl.UnsupportedError, f"libddl is of version {major}.{int(minor) + 1}.0, this package of"):
            library.require_version(f"{major}.{int(minor) + 1}.0", "x")

    def test_a_library_that_cannot_be_loaded(self):
        for value, text in (("/nonexistent.so", "libddl cannot be loaded: /nonexistent.so"), ("libm.so.6", "libm.so.6 is not libddl")):
            run = subprocess.run([sys.executable, "-c", "import ddl; ddl.init()"], capture_output=True, text=True, check=False,
                                 env={**os.environ, "DDL_LIBRARY": value})
            self.assertEqual(run.returncode, 1)
            self.assertIn(text, run.stderr)

    def test_a_library_that_does_not_fit_is_passed_over(self):
        with tempfile.TemporaryDirectory() as place, open(os.path.join(place, LIBRARY), "w", encoding="utf-8"):
            run = subprocess.run([sys.executable, "-c", "import ddl; print(ddl.init().size)"], capture_output=True, text=True,
                                 check=False, env={**os.environ, "LD_LIBRARY_PATH": place})
            self.assertEqual((run.returncode, run.stdout), (0, "1\n"), run.stderr)

    def test_imports_nothing_that_is_not_used(self):
        words = "import sys, ddl; print([m for m in ('numpy', 'torch', 'mpi4py', 'ddl.torch') if m in sys.modules])"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", words], text=True).strip(), "[]")

    def test_each_function_of_the_header_is_declared(self):
        with open(os.path.join(os.environ["DDLRUN_SOURCE_DIR"], "ddl/include/ddl/ddl.h"), encoding="utf-8") as header:
            text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
        for name, arguments in {**library.STATUS_FUNCTIONS, **{k: v[0] for k, v in library.OTHER_FUNCTIONS.items()}}.items():
            words = re.search(rf"\b{name}\((.*?)\);", text, re.S).group(1)
            self.assertEqual(0 if words == "void" else words.count(",") + 1, len(arguments), name)


if __name__ == "__main__":
    unittest.main()
