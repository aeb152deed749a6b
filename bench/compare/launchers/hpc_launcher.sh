# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# hpc-launcher has no list of hosts: -x passes Slurm's.
title="torchrun-hpc" library=torch place=slurm
version() { "$pypi/bin/pip" list 2> /dev/null | awk '$1 == "hpc-launcher" { print $1, $2 }'; }
type_command() {
  words=(torchrun-hpc -N 2 -n 2)
  [ "${program[0]}" = ./stamp.sh ] && words=(launch -N 2 -n 2)
  [ "$second" = node2 ] || words+=("-x=${wanted[0]}")
  words+=("${program[-1]}")
}
