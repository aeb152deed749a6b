#!/bin/bash
# SPDX-License-Identifier: MIT
# PyTorch itself (Debian's python3-torch, Gloo): DistributedDataParallel over 2 ranks, started without torchrun. The
# loss falls, and both ranks end with the same weights although their data differ.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
python=/usr/bin/python3
$python -c 'import torch.distributed as d; assert d.is_gloo_available()' 2>/dev/null || { echo "skipped: no PyTorch with Gloo (apt-get install python3-torch)"; exit 125; }
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 125; }
cd "$work" || exit 1
export XDG_STATE_HOME=$work/state OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cp "$DDLRUN_SOURCE_DIR/tests/support/torch_ddp.py" train.py
expect 0 '' timeout 300 "$DDLRUN" launch 2 localhost -- "$python" train.py
grep -q 'framework pytorch: train.py line' "$work/err" || fail "what was detected is not reported"
[ "$(grep -c '^rank [01] of 2 ' "$work/out")" -eq 2 ] || fail "not two ranks: $(cat "$work/out" "$work/err")"
[ "$(sed -n 's/.* weights //p' "$work/out" | sort -u | wc -l)" -eq 1 ] || fail "the ranks' weights differ: $(cat "$work/out")"
grep -q '^loss falls' "$work/out" || fail "the loss does not fall: $(cat "$work/out")"
[ "$(sed -n 's/.* seed \([0-9]*\) .*/\1/p' "$work/out" | sort -u | wc -l)" -eq 2 ] || fail "both ranks had the same data"

# A small loop of PyTorch is no stall of all ranks, though they use some 1 % of a core: with lines, and without any. One
# rank may wait for the other at the start.
cp "$DDLRUN_SOURCE_DIR/tests/support/torch_slow_ddp.py" slow.py
for lines in yes no; do
  expect 0 '' timeout 300 "$DDLRUN" launch 2 localhost --stall-timeout 6 --on-stall end -- "$python" slow.py "$lines" 20
  if grep -q 'all 2 ranks\|nor ha[sv]e* the other' "$work/err"; then fail "a healthy loop, lines: $lines: $(cat "$work/err")"; fi
done

# A rank in an endless loop is named, not the one that waits for it in Gloo.
cat > spins.py <<'PROGRAM'
import time, torch, torch.distributed as dist
dist.init_process_group("gloo")
one = torch.ones(1)
dist.all_reduce(one)
end = time.time() + 15
while dist.get_rank() == 1 and time.time() < end: pass
dist.all_reduce(one)
PROGRAM
expect 0 '' timeout 300 "$DDLRUN" launch 2 localhost --stall-timeout 5 --on-stall end -- "$python" spins.py
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || [ "$(id -u)" -eq 0 ]; then
  grep -q 'note: rank 1 on [^ ]* has used CPU time and moved no bytes for .*, while the other one waits for it, as it seems: process [0-9]* (python3) runs ' "$work/err" ||
    fail "a rank that spins in Python: $(cat "$work/err")"
fi
finish
