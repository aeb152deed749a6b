#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# framework pytorch: train_ddp.py line 1 imports torch.distributed (--framework)
# ranks are numbered host by host, as pytorch assumes (--order ddl: over the hosts)

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
{"schema":"ddlrun.ranks/1","hosts":"localhost","kind_of_host":[0],"ranks":["0,1"],"kinds":[[{"pus":"0-7","numa":0},{"pus":"8-15","numa":1}]],"groups":[{"first":0,"ranks":2,"set":{"RANK":"{rank}","WORLD_SIZE":"{size}","LOCAL_RANK":"{local_rank}","LOCAL_WORLD_SIZE":"{local_size}","GROUP_RANK":"{node}","GROUP_WORLD_SIZE":"{nodes}","NODE_RANK":"{node}","ROLE_NAME":"default","ROLE_RANK":"{rank}","ROLE_WORLD_SIZE":"{size}"}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MASTER_ADDR=127.0.0.1
export MASTER_PORT=29431
export OMP_NUM_THREADS=8

# -n 2                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x LD_LIBRARY_PATH                libraries are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                8: the cores of each rank; more threads would share cores
# -x MASTER_ADDR                    127.0.0.1: the address of rank 0: the others connect to it
# -x MASTER_PORT                    29431: --master-port
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
# rank RANK                         {rank}: torch.distributed: this rank of all
# rank WORLD_SIZE                   {size}: torch.distributed: all ranks
# rank LOCAL_RANK                   {local_rank}: which GPU of its host a script takes
# rank LOCAL_WORLD_SIZE             {local_size}: ranks of its host
# rank GROUP_RANK                   {node}: which host, as torchrun counts them
# rank GROUP_WORLD_SIZE             {nodes}: how many hosts
# rank NODE_RANK                    {node}: which host, for Lightning
# rank ROLE_NAME                    default: torchrun: there is one role
# rank ROLE_RANK                    {rank}: torchrun: there is one role
# rank ROLE_WORLD_SIZE              {size}: torchrun: there is one role
mpirun -n 2 --rankfile /runs/one/rankfile -x PATH -x LD_LIBRARY_PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x MASTER_ADDR -x MASTER_PORT -x DDLRUN_RANKS /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- python train_ddp.py
