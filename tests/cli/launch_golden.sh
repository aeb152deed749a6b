#!/bin/bash
# SPDX-License-Identifier: MIT
# Dry runs for made-up machines against tests/golden/launch/. DDLRUN_WRITE_GOLDEN=1 writes them anew.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/launch
binary=$(readlink -f "$DDLRUN")
printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' > "$work/mpirun"
cp "$DDLRUN_SOURCE_DIR/tests/support/mpirun5.sh" "$work/mpirun5"
printf '#!/bin/sh\necho "HYDRA build details:"\necho "    Version:                                 4.0.2"\n' > "$work/mpirun.mpich"
echo '#!/bin/sh
echo "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307 (id: d82b3071db)"' > "$work/mpirun_intel"
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$1" = --mpi=list ] && echo "MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix" || echo slurm 22.05.8\n' > "$work/srun"
chmod +x "$work"/mpirun* "$work/srun"

# golden NAME ARGUMENTS...: a clean environment and the variables of $given, the mpirun of the golden.
given=()
golden() {
  local name=$1
  shift
  expect 0 '' env -i PATH="$work" "${given[@]}" "$DDLRUN" launch --dry-run --run-dir /runs/one "$@"
  # The version, where the binary lies and how long the directory's name is are not what is tested here.
  sed -e 's/^#by ddlrun [0-9.]* /#by ddlrun VERSION /' -e "s:$binary:/opt/ddlrun/bin/ddlrun:g" -e "s:$(pwd -P):/job:g" \
    -e 's:^# --wdir /job  *:# --wdir /job  :' "$work/out" > "$work/found"
  [[ -z ${DDLRUN_WRITE_GOLDEN-} ]] || cp "$work/found" "$golden/$name.sh"
  diff -u "$golden/$name.sh" "$work/found" || fail "$name differs"
  bash -n "$work/found" || fail "$name: bash cannot read it"
}
minsky=(--sockets 2 --cores 10 --smt 8)
golden open_mpi_4 4x2x1 h1,h2 "${minsky[@]}" -- caffe train --solver=solver.prototxt
golden open_mpi_5 4x2x1 h1,h2 "${minsky[@]}" --mpirun mpirun5 --tag-output -- caffe train --solver=solver.prototxt
# shellcheck disable=SC2016
golden all_options 2 h1 "${minsky[@]}" --order packed --map-by packages --cores-per-rank 3 -x KEY=secret -x PATH \
  --mca btl_tcp_if_include 10.0.0.0/8 --mpi-arg --report-bindings --tag-output --allow-run-as-root -- ./p 'a b' '$(x)'
golden threads 2 h1 --sockets 1 --cores 68 --smt 4 --threads 30 --affinity libomp -- ./p
golden no_dims '' h1 "${minsky[@]}" -- ./p
golden mpich 4x2x1 h1,h2 "${minsky[@]}" --launcher mpich --tag-output -- caffe train --solver=solver.prototxt
golden mpich_packed 4x2x1 h1,h2 "${minsky[@]}" --launcher mpich --order packed --mem-bind bind -- ./p
golden intel_mpi 4x2x1 h1,h2 "${minsky[@]}" --mpirun mpirun_intel -x I_MPI_FABRICS=shm:ofi -- ./p
given=(HOME=/home/u SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=h[1-2]' SRUN_CPUS_PER_TASK=5 OMPI_MCA_pml=ucx)
golden srun 4x2x1 h1,h2 "${minsky[@]}" --launcher srun --mca btl tcp,self -- ./p
finish
