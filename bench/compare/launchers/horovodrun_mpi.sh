# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="horovodrun --mpi" library=horovod place=hosts
type_command() { words=(horovodrun --mpi -np 4 -H "node1:2,$second:2" "${program[@]}"); }
