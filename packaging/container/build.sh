#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh: in an image of Debian, makes the Debian packages of this tree in /packages, without CUDA. Run by Containerfile
# and ddlrun.def, as root.
set -eu
cd "$(dirname "$0")/../.."
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends dpkg-dev file g++ cmake ninja-build pkg-config \
  libhwloc-dev libfmt-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libsqlite3-dev libopenmpi-dev openmpi-bin \
  libmpich-dev libgloo-dev libdnnl-dev libssl-dev zlib1g-dev libjpeg-dev libpng-dev liblmdb-dev libprotobuf-dev protobuf-compiler \
  python3-setuptools python3-wheel
cmake --preset run -DCMAKE_INSTALL_PREFIX=/usr -DDDLRUN_RUNTIME=ON -DDDLRUN_CUDA=OFF
cmake --build --preset run
bash packaging/packages.sh DEB /packages
