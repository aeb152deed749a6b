#!/bin/bash
# SPDX-License-Identifier: MIT
# build_horovod.sh: builds Horovod 0.28.1 with MPI and Gloo into the venv of install.sh's torch, and prints its directory. Its
# last release is of 2023: PyTorch 2.15 needs C++20, which three lines of its CMake files exclude. Status 125: no PyPI, or the
# build fails.
set -u
place=$("$(dirname "$(readlink -f "$0")")/install.sh" torch) || { status=$?; echo "$place"; exit "$status"; }
if [ ! -e "$place/horovod" ]; then
  source=$(mktemp -d)
  trap 'rm -r "$source"' EXIT
  pip=("$place/bin/pip" --disable-pip-version-check)
  {
    "${pip[@]}" install --quiet "setuptools<70" wheel packaging cffi cloudpickle psutil pyyaml &&
      "${pip[@]}" download --quiet --no-deps --no-build-isolation --no-binary :all: -d "$source" horovod==0.28.1 &&
      tar -C "$source" -xzf "$source/horovod-0.28.1.tar.gz" && cd "$source/horovod-0.28.1" &&
      sed -i 's/CMAKE_CXX_STANDARD 14/CMAKE_CXX_STANDARD 20/' CMakeLists.txt horovod/torch/CMakeLists.txt &&
      sed -i 's/-std=c++11 -fPIC/-fPIC/' third_party/gloo/CMakeLists.txt &&
      HOROVOD_WITHOUT_TENSORFLOW=1 HOROVOD_WITHOUT_MXNET=1 HOROVOD_WITH_PYTORCH=1 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1 \
        MAKEFLAGS=-j2 "${pip[@]}" install --verbose --no-build-isolation --no-deps .
  } > "$place.horovod.log" 2>&1 || { echo "skipped: Horovod cannot be built: $(grep -m 1 -i error: "$place.horovod.log")"; exit 125; }
  touch "$place/horovod"
fi
echo "$place"
