#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# --sockets 2 --cores 10 --smt 8: the numbers of hardware threads are assumed to run through core 0, then core 1, as on POWER; on x86 core 0 is PU 0, 20, ...: --topology FILE of such a node (ddlrun topo --json > FILE there), or --synthetic 'pack:2 core:10 pu:8(indexes=8*20:1*8)'

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","bind":true,"workdir":"/job","hosts":"h[1-2]","kind_of_host":[0,0],"ranks":["0-6/2","1-7/2"],"kinds":[[{"pus":"0-39","numa":0},{"pus":"40-79","numa":0},{"pus":"80-119","numa":1},{"pus":"120-159","numa":1}]],"groups":[{"first":0,"ranks":8,"set":{}}]}
END_OF_FILE

mkdir -p -- /runs/one
cat > /runs/one/hosts <<'END_OF_FILE'
h1
h2
h1
h2
h1
h2
h1
h2
END_OF_FILE

export OMPI_MCA_btl=tcp,self
export SLURM_HOSTFILE=/runs/one/hosts
export SLURM_PMIX_FENCE=ring
export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MKL_NUM_THREADS=5
export OMP_NUM_THREADS=5
export OMP_PLACES=cores
export OMP_PROC_BIND=close

# env -u SRUN_CPUS_PER_TASK         a count of CPUs a task would confine the job step to fewer than planned
# -n 8                              the ranks of the plan
# --distribution=arbitrary          each rank on the host that its line of the host file names
# SLURM_HOSTFILE=/runs/one/hosts    the host of each rank, a line each
# --cpu-bind=none                   srun has one list for all hosts: ddlrun exec binds each rank itself
# --gpu-bind=none                   likewise: the rank map gives each rank its GPU
# --overlap                         srun would wait for an interactive step of the same job to end
# --kill-on-bad-exit=1              a rank that fails ends the job, as under mpirun
# --input=0                         stdin is rank 0's, as under mpirun
# --mpi=pmix                        how the program's MPI learns of its ranks
# SLURM_PMIX_FENCE=ring             else a rank may get a message before its MPI_Init is ready, and crash
# OMPI_MCA_btl=tcp,self             you requested it
# --export=ALL                      the ranks get the whole environment, as by srun alone; launch sets in it:
#   PATH                            programs are found as here
#   CUDA_DEVICE_ORDER               PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
#   OMP_NUM_THREADS                 5: the cores of each rank; more threads would share cores
#   OMP_PLACES                      cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
#   OMP_PROC_BIND                   close: thread after thread on core after core of the rank, and it stays there
#   MKL_NUM_THREADS                 5: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
#   DDLRUN_RANKS                    what each rank is to get; ddlrun exec reads it
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
env -u SRUN_CPUS_PER_TASK srun -n 8 --distribution=arbitrary --cpu-bind=none --gpu-bind=none --overlap --kill-on-bad-exit=1 --input=0 --mpi=pmix --export=ALL /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- ./p
