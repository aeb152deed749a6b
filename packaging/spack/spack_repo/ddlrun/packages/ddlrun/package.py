# SPDX-License-Identifier: MIT
# In a clone of ddlrun, with Spack 1.0 or newer:
#   spack repo add packaging/spack/spack_repo/ddlrun
#   spack install ddlrun@main
# The sources are those that are committed in the clone.
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *

CLONE = Path(__file__).resolve().parents[6]


class Ddlrun(CMakePackage):
    """Starts distributed training on PBS, Slurm and ssh hosts, binds each rank to its cores and GPU, and reports the
    cause when a job fails. With libddl (collectives) and ddl-train (a trainer for images)."""

    homepage = CLONE.as_uri()
    git = CLONE.as_uri()

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("runtime", default=True, description="Build libddl and ddl-train")
    variant("gloo", default=False, when="+runtime", description="Compare with Gloo in ddl-bench")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("fmt@9:11")
    depends_on("hwloc@2.4:")
    depends_on("sqlite@3.40:")
    depends_on("yaml-cpp@0.7:")

    with when("+runtime"):
        depends_on("mpi")
        depends_on("onednn@2.6:")
        depends_on("openssl@3:")
        depends_on("zlib-api")
        depends_on("protobuf@21")
        depends_on("jpeg")
        depends_on("libpng")
        depends_on("lmdb")
    depends_on("gloo", when="+gloo")

    # The oldest that are tested
    conflicts("%gcc@:11")
    conflicts("%clang@:13")

    def cmake_args(self):
        return [
            self.define_from_variant("DDLRUN_RUNTIME", "runtime"),
            # GPUs: build with CMake; the plug-ins belong to one CUDA and cuDNN.
            self.define("DDLRUN_CUDA", False),
            self.define("DDLRUN_CUDNN", False),
            self.define("DDLRUN_NCCL", False),
            self.define("DDLRUN_TESTS", False),
        ]
