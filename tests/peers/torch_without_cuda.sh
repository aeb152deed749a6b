#!/bin/bash
# SPDX-License-Identifier: MIT
# torch_without_cuda.sh DIRECTORY: PyPI's PyTorch is linked with CUDA's libraries, GBs that a host without a GPU never calls.
# Writes libraries of the same names and symbols into DIRECTORY (torch/lib); each function returns cudaErrorNoDevice (100).
set -eu
cd "$1"
wheel=(*.so)
for library in $(readelf -d "${wheel[@]}" | sed -nE 's/.*\(NEEDED\).*\[(lib(cu|nv|nccl)[^]]*)\]/\1/p' | sort -u); do
  # A library's symbols have one version, its name or another; all symbols without a version are defined once, in NCCL's.
  version=$(objdump -p "${wheel[@]}" | awk -v from="$library:" '/required from/ { this = $3 == from } this && /^ +0x/ { print $NF; exit }')
  nm -D --undefined-only "${wheel[@]}" | awk -v version="$version" -v library="$library" '
    $1 == "U" && split($2, part, "@") && (part[2] != "" ? part[2] == version : library ~ /nccl/ && $2 ~ /^(cu|nccl|nv)/) && !seen[part[1]]++ {
      print ".globl " part[1] "\n.type " part[1] ",@function\n" part[1] ":" }
    END { print "mov $100, %eax\nret\n.section .note.GNU-stack" }' |
    gcc -shared -nostdlib -x assembler - -o "$library" -Wl,-soname,"$library" -Wl,--version-script,<(echo "${version:-NONE} { *; };")
done
