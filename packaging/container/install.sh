#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh: in an image of the same Debian, installs what build.sh made, with Open MPI and ssh.
set -eu
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /packages/*.deb openmpi-bin openssh-client
rm -rf /packages /var/lib/apt/lists/*
ddlrun --version
