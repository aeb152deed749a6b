#!/bin/bash
# SPDX-License-Identifier: MIT
# On a machine with an NVIDIA GPU and PyTorch for CUDA: ddl in Python with tensors on the GPU, as one rank and as two that
# share it.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
here=$(dirname "$(readlink -f "$0")")
skip() {
  echo "skipped: $1"
  exit 125
}
command -v nvidia-smi > /dev/null || skip "no nvidia-smi, so no NVIDIA driver"
python3 -c 'import torch; assert torch.cuda.is_available()' 2> /dev/null || skip "no PyTorch that finds a GPU (pip install torch)"
export PYTHONPATH=$DDLRUN_BUILD_DIR/python PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=$work/state GLOG_minloglevel=2
for ranks in 1 2; do
  expect 0 '' env MEETING="$work/meeting$ranks" timeout 300 "$here/../support/share_gpu.sh" "$ranks" python3 "$here/test_torch_gpu.py"
  [ "$(grep -c '^OK' "$work/err")" -eq "$ranks" ] || fail "not $ranks ranks are OK: $(grep -v '^$' "$work/err" | tail -n 40)"
done
finish
