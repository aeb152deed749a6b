#!/bin/bash
# SPDX-License-Identifier: MIT
# Training on two hosts of two ranks each: how sums are made and where weights are updated changes no bit; narrow
# numbers cross the wire and learn as well; a run goes on with one copy of the weights a host.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v mpirun > /dev/null || { echo "skipped: no mpirun; apt-get install openmpi-bin"; exit 125; }
lab_up 2
install_trainer
cp -r "$(dirname "$(readlink -f "$0")")/../data/fashion-mnist-subset" "$lab_home/images"
chown -R 2000:2000 "$lab_home/bin" "$lab_home/images"
received() { on node2 cat /sys/class/net/eth0/statistics/rx_bytes; }
train() {
  on node1 mpirun --host node1:2,node2:2 --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 --oversubscribe \
    --bind-to none --mca mpi_yield_when_idle 1 /home/ddl/bin/ddl-train --data /home/ddl/images --threads 1 \
    --global-batch 40 --lr 0.005 --quiet "$@"
}
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*$/\1/p' "$work/out"; }
loss_of() { sed -n 's/.* train_loss=\([0-9.]*\) .*$/\1/p' "$work/out"; }

begin=$(received)
expect 0 'ranks=4' train --total-steps 40 --overlap off --optimizer-placement rank
whole=$(hash_of) loss=$(loss_of) wide=$(($(received) - begin))
for way in '--overlap off --optimizer-placement host' '--overlap on --bucket-kb 1 --optimizer-placement rank' '--overlap on --bucket-kb 64 --optimizer-placement host' \
  '--overlap across --bucket-kb 16 --optimizer-placement rank' '--overlap across --bucket-kb 16 --optimizer-placement host' ''; do
  # shellcheck disable=SC2086
  expect 0 "hash=$whole" train --total-steps 40 $way
done
expect 0 'ddl-train: ok' train --total-steps 20 --lr-decay none --checkpoint /home/ddl/saved
expect 0 'ddl-train: ok' train --total-steps 40 --lr-decay none --checkpoint /home/ddl/saved --resume
resumed=$(hash_of)
expect 0 "hash=$resumed" train --total-steps 40 --lr-decay none

begin=$(received)
expect 0 'ranks=4' train --total-steps 40 --overlap off --optimizer-placement rank --grad-dtype bf16
narrow=$(($(received) - begin))
echo "fp32: $wide bytes to node2, training loss $loss; bf16: $narrow bytes, $(loss_of)"
[ "$((narrow * 3))" -lt "$((wide * 2))" ] || fail "bf16 saves too little: $narrow of $wide bytes"
awk -v a="$loss" -v b="$(loss_of)" 'BEGIN { exit !(a > 0 && (a - b) ^ 2 < (0.02 * a) ^ 2) }' || fail "bf16 learns otherwise: $loss, $(loss_of)"
# Narrow numbers are rounded by where a vector is cut, so each way has bits of its own; but always the same ones.
expect 0 'ddl-train: ok' train --total-steps 20 --lr-decay none --grad-dtype bf16 --overlap across --bucket-kb 16 --checkpoint /home/ddl/narrow
expect 0 'ddl-train: ok' train --total-steps 40 --lr-decay none --grad-dtype bf16 --overlap across --bucket-kb 16 --checkpoint /home/ddl/narrow --resume
resumed=$(hash_of)
expect 0 "hash=$resumed" train --total-steps 40 --lr-decay none --grad-dtype bf16 --overlap across --bucket-kb 16 --optimizer-placement rank --test-every 7
finish
