# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# OpenMP runtimes.
kind gomp_affinity X20 - - "GOMP_CPU_AFFINITY names processors that the host has not"
break_gomp_affinity() {
  local beyond=$(($(nproc --all) + 1))
  four -x "GOMP_CPU_AFFINITY=0-$beyond" -x "OMP_NUM_THREADS=$((beyond + 1))" bin/threads
}
kind gomp_threads - - - "more OpenMP threads than the limit of processes allows" "Thread creation failed"
break_gomp_threads() { four bash -c 'ulimit -u 50; OMP_NUM_THREADS=4000 exec bin/threads'; }
