#!/bin/bash
# SPDX-License-Identifier: MIT
# Dry runs for made-up machines against tests/golden/launch/. DDLRUN_WRITE_GOLDEN=1 writes them anew.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/launch
binary=$(readlink -f "$DDLRUN")
printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' > "$work/mpirun"
cp "$DDLRUN_SOURCE_DIR/tests/support/mpirun5.sh" "$work/mpirun5"
chmod +x "$work/mpirun" "$work/mpirun5"

# golden NAME ARGUMENTS...: a clean environment, the mpirun of the golden.
golden() {
  local name=$1
  shift
  expect 0 '' env -i PATH="$work" "$DDLRUN" launch --dry-run --run-folder /runs/one "$@"
  # The version and where the binary lies are not what is tested here.
  sed -e 's/^#by ddlrun [0-9.]* /#by ddlrun VERSION /' -e "s:$binary:/opt/ddlrun/bin/ddlrun:g" "$work/out" > "$work/found"
  [[ -z ${DDLRUN_WRITE_GOLDEN-} ]] || cp "$work/found" "$golden/$name.sh"
  diff -u "$golden/$name.sh" "$work/found" || fail "$name differs"
  bash -n "$work/found" || fail "$name: bash cannot read it"
}
minsky=(--sockets 2 --cores 10 --smt 8)
golden open_mpi_4 4x2x1 h1,h2 "${minsky[@]}" -- caffe train --solver=solver.prototxt
golden open_mpi_5 4x2x1 h1,h2 "${minsky[@]}" --mpirun mpirun5 --tag-output -- caffe train --solver=solver.prototxt
# shellcheck disable=SC2016
golden all_options 2 h1 "${minsky[@]}" --order packed --by packages --cores-per-rank 3 -x KEY=secret -x PATH \
  --mca btl_tcp_if_include 10.0.0.0/8 --mpi-arg --report-bindings --tag-output --allow-run-as-root -- ./p 'a b' '$(x)'
golden threads 2 h1 --sockets 1 --cores 68 --smt 4 --threads 30 --affinity libomp -- ./p
golden no_dims '' h1 "${minsky[@]}" -- ./p
finish
