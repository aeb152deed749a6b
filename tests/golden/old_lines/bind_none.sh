#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# the ranks are not bound to cores, so their threads are not either: those of all ranks would take the same first cores

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 2x1x1
#host = localhost
#dimX = 2
#dimY = 1
#dimZ = 1
#sockets = 2
#cores = 8

rank 0=localhost           slot=0:0-7
rank 1=localhost           slot=1:0-7


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","unbind":true,"hosts":"localhost","kind_of_host":[0],"ranks":["0,1"],"kinds":[[{"pus":"0-7","numa":0},{"pus":"8-15","numa":1}]],"groups":[{"first":0,"ranks":2,"set":{}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MKL_NUM_THREADS=8
export OMP_NUM_THREADS=8

# -n 2                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x LD_LIBRARY_PATH                libraries are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                8: the cores of each rank; more threads would share cores
# -x MKL_NUM_THREADS                8: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
mpirun -n 2 --rankfile /runs/one/rankfile -x PATH -x LD_LIBRARY_PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x MKL_NUM_THREADS -x DDLRUN_RANKS /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- solver
