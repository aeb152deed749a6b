#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 1x1x1
#host = localhost
#dimX = 1
#dimY = 1
#dimZ = 1
#sockets = 2
#cores = 10

rank 0=localhost           slot=0:0-9;1:0-9


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"localhost","kind_of_host":[0],"ranks":["0"],"kinds":[[{"pus":"0-159"}]],"groups":[{"first":0,"ranks":1,"set":{}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MKL_NUM_THREADS=20
export OMP_NUM_THREADS=20
export OMP_PLACES=cores
export OMP_PROC_BIND=close

# -n 1                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x LD_LIBRARY_PATH                libraries are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                20: the cores of each rank; more threads would share cores
# -x OMP_PLACES                     cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
# -x OMP_PROC_BIND                  close: thread after thread on core after core of the rank, and it stays there
# -x MKL_NUM_THREADS                20: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
mpirun -n 1 --rankfile /runs/one/rankfile -x PATH -x LD_LIBRARY_PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND -x MKL_NUM_THREADS -x DDLRUN_RANKS /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- caffe train -lms 800000 --solver=models/bvlc_alexnet/solver.prototxt -gpu all
