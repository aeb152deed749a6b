#!/bin/bash
# SPDX-License-Identifier: MIT
# HPC Challenge (Debian's hpcc): Linpack, PTRANS, RandomAccess, FFT, STREAM, latency and bandwidth over 4 ranks on 2 hosts,
# each part with its own check of what was computed.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v hpcc > /dev/null || { echo "skipped: no HPC Challenge (apt-get install --no-install-recommends hpcc)"; exit 125; }
[[ $(mpirun --version 2>&1) == *"(Open MPI)"* ]] || { echo "skipped: mpirun is not Open MPI's (apt-get install openmpi-bin)"; exit 125; }
[ "$(nproc)" -ge 2 ] || { echo "skipped: two cores are needed"; exit 125; }
lab_up 2
LAB_PATIENCE=600
# The package's example, with a matrix so small that hosts which share two cores are soon through.
sed -e 's/^1000 \(.*Ns\)$/64 \1/' -e 's/^80 \(.*NBs\)$/16 \1/' /usr/share/doc/hpcc/examples/_hpccinf.txt > "$lab_home/hpccinf.txt" ||
  { echo "skipped: hpcc has no example here (documents are left out of this system)"; exit 125; }
chown 2000:2000 "$lab_home/hpccinf.txt"
# The hosts share this machine's cores: who waits is to let others run.
expect 0 "4 of 4 ranks are where they were planned" on node1 "$tool" launch 2x2x1 'node[1-2]' --cores-per-rank 1 \
  --strict -x OMPI_MCA_mpi_yield_when_idle=1 -- hpcc
[ -e "$lab_home/hpccoutf.txt" ] || { fail "hpcc wrote nothing: $(tail -n 5 "$work/err")"; finish; }
value() { sed -n "s/^$1=//p" "$lab_home/hpccoutf.txt"; }
for wanted in Success=1 CommWorldProcs=4 HPL_N=64 HPL_nprow=2 HPL_npcol=2 MPIFFT_Procs=4 MPIRandomAccess_Errors=0 \
  MPIRandomAccess_LCG_Errors=0 PTRANS_residual=0; do
  same "${wanted%=*}" "${wanted#*=}" "$(value "${wanted%=*}")"
done
same "Linpack's residuals" 1 "$(grep -c '^||Ax-b||.* PASSED$' "$lab_home/hpccoutf.txt")"
same "PTRANS' residuals" 0 "$(sed -n 's/^ *\([0-9]*\) tests completed and failed residual checks\.$/\1/p' "$lab_home/hpccoutf.txt")"
for figure in HPL_Tflops PTRANS_GBs MPIRandomAccess_GUPs MPIFFT_Gflops AvgPingPongBandwidth_GBytes RandomlyOrderedRingBandwidth_GBytes; do
  awk -v found="$(value $figure)" 'BEGIN { exit !(found > 0) }' || fail "$figure: '$(value $figure)'"
done
awk -v e="$(value MPIFFT_maxErr)" 'BEGIN { exit !(e != "" && e < 1e-12) }' || fail "MPIFFT_maxErr is '$(value MPIFFT_maxErr)'"
echo "Linpack $(value HPL_Tflops) Tflop/s, FFT $(value MPIFFT_Gflops) Gflop/s, ping-pong $(value AvgPingPongLatency_usec) us"
finish
