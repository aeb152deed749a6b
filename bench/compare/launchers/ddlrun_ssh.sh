# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="ddlrun launch, no MPI" library=torch place=hosts
type_command() { words=(ddlrun launch --launcher ssh 2x2 "node1,$second" -- "${program[@]}"); }
