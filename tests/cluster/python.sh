#!/bin/bash
# SPDX-License-Identifier: MIT
# `import ddl` on 2 hosts of 2 ranks, by mpirun and by ssh alone: every call, and PyTorch's hook beside Gloo. Without a token
# ranks by ssh are refused, as the losses of single ranks would be wrong.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
python=/usr/bin/python3
[ -x $python ] || { echo "skipped: no $python"; exit 125; }
[ "$(nproc)" -ge 2 ] || { echo "skipped: two cores are needed"; exit 125; }
lab_up 2
LAB_PATIENCE=300
cmake --install "$DDLRUN_BUILD_DIR" --component libddl --prefix "$LAB_DIR/installed" > "$work/installed" 2>&1 || fail "install: $(tail -n 3 "$work/installed")"
cp -r "$LAB_DIR/installed/." "$lab_home"
cp "$DDLRUN_SOURCE_DIR/tests/python/test_ranks.py" "$DDLRUN_SOURCE_DIR/examples/python/train_mnist.py" "$lab_home"
cp -r "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" "$lab_home/data"
(umask 077 && head -c 32 /dev/urandom | base64 > "$lab_home/token")
chown -R 2000:2000 "$lab_home"
words=(2x2x1 'node[1-2]' --cores-per-rank 1 --strict -x PYTHONPATH=/home/ddl/share/ddlrun/python)
declare -A more=([openmpi]="--launcher openmpi" [ssh]="--launcher ssh -x DDL_TOKEN_FILE=/home/ddl/token")
torch=yes
$python -c 'import numpy, torch; assert torch.distributed.is_gloo_available()' 2> /dev/null || {
  torch=''
  echo "without PyTorch: it is not here (apt-get install python3-torch)"
}
for launcher in openmpi ssh; do
  command -v mpirun > /dev/null || [ $launcher = ssh ] || { echo "no mpirun here: left out"; continue; }
  read -ra options <<< "${more[$launcher]}"
  expect 0 'framework ddl' on node1 "$tool" launch "${words[@]}" "${options[@]}" -- $python test_ranks.py
  same "$launcher: ranks that are OK" 4 "$(grep -c '^OK' "$work/err")"
  [ -n "$torch" ] || continue
  for way in gloo hook optimizer; do
    expect 0 "4 ranks, $way: " on node1 "$tool" launch "${words[@]}" "${options[@]}" -- $python train_mnist.py --data data --steps 20 \
      --batch-size 8 --sum $way
    grep '^step' "$work/out" > "$work/losses.$launcher.$way"
    same "$launcher: losses of $way" "$(cat "$work/losses.$launcher.gloo")" "$(cat "$work/losses.$launcher.$way")"
  done
done
expect_refusal 3 'need a token' on node1 "$tool" launch "${words[@]}" --launcher ssh -- $python test_ranks.py
# Where ddlrun has not detected that the program uses libddl, libddl itself refuses to run alone.
expect 1 'ddlrun starts 4 ranks, and libddl is connected to none of them' on node1 "$tool" launch "${words[@]}" --launcher ssh \
  --framework none -- $python test_ranks.py
finish
