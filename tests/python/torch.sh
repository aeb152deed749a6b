#!/bin/bash
# SPDX-License-Identifier: MIT
# torch.sh DDL_TRAIN [PYTHON]: ddl.torch with Debian's PyTorch, or that of PYTHON: the hook and DistributedOptimizer have the
# losses of DistributedDataParallel over Gloo, on small nets and in the example; under mpirun, launch and torchrun.
here=$(dirname "$(readlink -f "$0")")
. "$here/../mpi/ranks.sh"
python=${2:-/usr/bin/python3}
$python -c 'import torch, numpy; assert torch.distributed.is_gloo_available()' 2> /dev/null ||
  skip "no PyTorch with Gloo and NumPy (apt-get install python3-torch python3-numpy)"
export PYTHONPATH=$DDLRUN_BUILD_DIR/python PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=$work/state GLOG_minloglevel=2
PATH=$(dirname "$DDLRUN"):$PATH
$python -c 'import torch; print("PyTorch", torch.__version__)'

for ranks in 1 2 4; do
  expect 0 '' env MEETING="$work/meeting$ranks" "${launcher[@]}" -n "$ranks" timeout 300 "$python" "$here/test_torch.py"
  [ "$(grep -c '^OK' "$work/err")" -eq "$ranks" ] || fail "not $ranks ranks are OK: $(grep -v '^$' "$work/err" | tail -n 12)"
done
run env MEETING="$work/meeting" "${launcher[@]}" -n 2 timeout 100 "$python" "$here/torch_ends.py"
[[ $status = [17] ]] || fail "status $status after an exception"
has "an exception in a rank" "$work/out" ") gave up: "
has "an exception in a rank" "$work/out" "after a moment: "

# The example: the same lines of losses, whatever sums the gradients.
example=("$python" "$DDLRUN_SOURCE_DIR/examples/python/train_mnist.py" --data "$subset" --steps 40)
losses() { grep '^step' "$work/out"; }
expect 0 'framework ddl' "$DDLRUN" launch 2 --oversubscribe -- "${example[@]}" --sum gloo
gloo=$(losses)
[ "$(wc -l <<< "$gloo")" -eq 2 ] || fail "not two losses: $gloo"
for way in hook optimizer; do
  expect 0 "2 ranks, $way: " "$DDLRUN" launch 2 --oversubscribe -- "${example[@]}" --sum "$way"
  same "losses of --sum $way" "$gloo" "$(losses)"
done
expect 0 '' ranks 2 "${example[@]}" --sum optimizer
same "losses under mpirun" "$gloo" "$(losses)"

# torchrun: the ranks agree by the process group. The torchrun of PyTorch 1.13 fails under Python 3.11 without --redirects.
torchrun=(timeout 200 "$python" -m torch.distributed.run --nproc_per_node 2 --redirects 9:1 --tee 9:1 --master_port $((20000 + RANDOM % 8000)))
expect 0 '' "${torchrun[@]}" "${example[@]:1}" --sum hook
same "losses under torchrun" "$gloo" "$(losses)"
echo 'import ddl; ddl.init()' > "$work/alone.py"
expect 1 'torchrun starts 2 ranks, and libddl cannot connect them alone' "${torchrun[@]}" "$work/alone.py"
finish
