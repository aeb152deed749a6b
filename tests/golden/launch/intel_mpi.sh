#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# --sockets 2 --cores 10 --smt 8: the numbers of hardware threads are assumed to run through core 0, then core 1, as on POWER; on x86 core 0 is PU 0, 20, ...: --topology FILE of such a node (ddlrun topo --json > FILE there), or --synthetic 'pack:2 core:10 pu:8(indexes=8*20:1*8)'
# mpirun_intel is Intel MPI 2021.9

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","bind":true,"workdir":"/job","hosts":"h[1-2]","kind_of_host":[0,0],"ranks":["0-6/2","1-7/2"],"kinds":[[{"pus":"0-39","numa":0},{"pus":"40-79","numa":0},{"pus":"80-119","numa":1},{"pus":"120-159","numa":1}]],"groups":[{"first":0,"ranks":8,"set":{}}]}
END_OF_FILE

mkdir -p -- /runs/one
cat > /runs/one/hosts <<'END_OF_FILE'
h1:1
h2:1
END_OF_FILE

export I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS='-oServerAliveInterval=5 -oServerAliveCountMax=6'
export I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=0
export I_MPI_PIN=0
export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MKL_NUM_THREADS=5
export OMP_NUM_THREADS=5
export OMP_PLACES=cores
export OMP_PROC_BIND=close
export I_MPI_FABRICS="${I_MPI_FABRICS:?set it first: values given by -x are not shown}"

# -bootstrap ssh                    hosts are reached as ddlrun reaches them
# -machinefile /runs/one/hosts      which rank sits on which host; further ranks start again at its top
# -n 8                              the ranks of the plan
# I_MPI_PIN=0                       Intel MPI's own pinning is off: each rank is bound by ddlrun exec
# I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=0  inside a scheduler, too, the plan says where ranks are
# I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-oServerAliveInterval=5 -oServerAliveCountMax=6  for ssh: a host that goes away is noticed within 30 s, not a quarter of an hour
# -genvlist PATH,CUDA_DEVICE_ORDER,OMP_NUM_THREADS,OMP_PLACES,OMP_PROC_BIND,MKL_NUM_THREADS,I_MPI_FABRICS,DDLRUN_RANKS,I_M...  the variables that reach the ranks, by name:
#   PATH                            programs are found as here
#   CUDA_DEVICE_ORDER               PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
#   OMP_NUM_THREADS                 5: the cores of each rank; more threads would share cores
#   OMP_PLACES                      cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
#   OMP_PROC_BIND                   close: thread after thread on core after core of the rank, and it stays there
#   MKL_NUM_THREADS                 5: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
#   I_MPI_FABRICS                   you set it; passed by name: only the command line of ddlrun shows its value
#   DDLRUN_RANKS                    what each rank is to get; ddlrun exec reads it
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
mpirun_intel -bootstrap ssh -machinefile /runs/one/hosts -n 8 -genvlist PATH,CUDA_DEVICE_ORDER,OMP_NUM_THREADS,OMP_PLACES,OMP_PROC_BIND,MKL_NUM_THREADS,I_MPI_FABRICS,DDLRUN_RANKS,I_MPI_PIN /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- ./p
