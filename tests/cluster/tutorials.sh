#!/bin/bash
# SPDX-License-Identifier: MIT
# tutorials.sh PAGE: types every command of docs/PAGE.md (tutorials/NAME or howto/NAME) on virtual hosts, and compares what
# they print with the page (../support/run_page.py).
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
page=${1:?a page of docs: tutorials/NAME or howto/NAME}
name=${page#*/}
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 125; }
[ "$(nproc)" -ge 2 ] || { echo "skipped: two cores are needed"; exit 125; }
needs_torch() {
  /usr/bin/python3 -c 'import torch.distributed as d; assert d.is_gloo_available()' 2> /dev/null ||
    { echo "skipped: no PyTorch with Gloo (apt-get install python3-torch)"; exit 125; }
}
needs_images() {
  [ -d /usr/share/datasets/fashion-mnist ] || { echo "skipped: no images (apt-get install dataset-fashion-mnist)"; exit 125; }
}
needs_loader() { # of examples/pytorch/load_checkpoint.py
  /usr/bin/python3 -c 'import PIL, torch, yaml' 2> /dev/null ||
    { echo "skipped: no PyTorch, Pillow or PyYAML (apt-get install python3-torch python3-pil python3-yaml)"; exit 125; }
}
needs_venv() {
  /usr/bin/python3 -c 'import ensurepip, venv, setuptools, wheel' 2> /dev/null ||
    { echo "skipped: no venv, or no wheel is built (apt-get install python3-venv python3-setuptools python3-wheel)"; exit 125; }
}
hosts=2
case $name in
  own_images) needs_images; needs_loader; hosts=1 ;;
  libddl) command -v cmake > /dev/null || { echo "skipped: no cmake"; exit 125; } ;;
  python) needs_torch; needs_images; needs_venv ;;
  from_ibm_ddl) needs_images ;;
  ssh_servers | slurm | pbs | from_horovodrun_and_torchrun | restart) needs_torch; needs_images ;;
  hang) needs_torch ;;
  memlock) export LAB_MEMLOCK_2=64 ;; # KiB, of the sshd of node2
  names_and_networks | affinity | containers) ;;
  *) fail "no lab is known for the page $page"; finish ;;
esac
lab_up $hosts
case $name in
  slurm) slurm up 2 > "$work/slurm" 2>&1 || { status=$?; tail -n 3 "$work/slurm"; exit "$status"; } ;;
  pbs) pbs up 2 > "$work/pbs" 2>&1 || { status=$?; tail -n 3 "$work/pbs"; exit "$status"; } ;;
esac

# As installed: a page finds the examples in share/ddlrun of the prefix.
cmake --install "$DDLRUN_BUILD_DIR" --prefix "$LAB_DIR/installed" > "$work/installed" 2>&1 || fail "install: $(tail -n 3 "$work/installed")"
mkdir "$lab_home/ddlrun" "$lab_home/tutorial"
cp -r "$LAB_DIR/installed/." "$lab_home/ddlrun"
rm -r "$lab_home/bin"
for file in .bashrc .profile; do
  echo 'export PATH=$HOME/ddlrun/bin:$PATH' > "$lab_home/$file"
done
if [ "$name" = affinity ]; then # a node with GPUs, as its own ddlrun would describe it
  "$DDLRUN" topo --topology "$DDLRUN_SOURCE_DIR/tests/data/topologies/power_2pkg_10core_smt8_4gpu_bmc.xml" --json > "$lab_home/tutorial/gpu-node.json"
fi
chown -R 2000:2000 "$lab_home"
# shellcheck disable=SC2016
python3 "$lab_tests/../support/run_page.py" "$DDLRUN_SOURCE_DIR/docs/$page.md" \
  "$lab_tests/lab.sh" exec node1 -u ddl -- bash -lc 'cd tutorial && exec bash' || fail "$page.md shows something else"
finish
