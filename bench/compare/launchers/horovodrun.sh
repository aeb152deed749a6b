# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="horovodrun --gloo" library=horovod place=hosts
version() { echo "Horovod $("$torch/bin/horovodrun" --version)"; }
type_command() { words=(horovodrun --gloo -np 4 -H "node1:2,$second:2" "${program[@]}"); }
