# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="ddlrun launch" library=mpi place=hosts
version() { on node1 "$tool" --version; }
type_command() { words=(ddlrun launch 2x2 "node1,$second" -- "${program[@]}"); }
