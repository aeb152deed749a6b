#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# framework pytorch: train_ddp.py line 1 imports torch.distributed (--framework)
# ranks are numbered host by host, as pytorch assumes (--order ddl: over the hosts)
# PYTHONPATH reaches no rank: -x PYTHONPATH passes it to all ranks

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 2x2x1
#host = h1,h2
#dimX = 2
#dimY = 2
#dimZ = 1
#sockets = 2
#cores = 8

rank 0=h1           slot=0:0-7
rank 1=h1           slot=1:0-7

rank 2=h2           slot=0:0-7
rank 3=h2           slot=1:0-7


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"h[1-2]","kind_of_host":[0,0],"ranks":["0,1","2,3"],"kinds":[[{"pus":"0-7","numa":0},{"pus":"8-15","numa":1}]],"groups":[{"first":0,"ranks":4,"set":{"RANK":"{rank}","WORLD_SIZE":"{size}","LOCAL_RANK":"{local_rank}","LOCAL_WORLD_SIZE":"{local_size}","GROUP_RANK":"{node}","GROUP_WORLD_SIZE":"{nodes}","NODE_RANK":"{node}","ROLE_NAME":"default","ROLE_RANK":"{rank}","ROLE_WORLD_SIZE":"{size}"}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MASTER_ADDR=h1
export MASTER_PORT=29500
export OMP_NUM_THREADS=8

# -n 4                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x LD_LIBRARY_PATH                libraries are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                8: the cores of each rank; more threads would share cores
# -x MASTER_ADDR                    h1: the address of rank 0: the others connect to it
# -x MASTER_PORT                    29500: --master-port
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# --wdir /home/user        without it, ranks of a host that lacks it start in $HOME
# --mca oob_tcp_keepalive_time 10   a host that goes away is noticed within 30 s, not 8 min
# --mca oob_tcp_keepalive_intvl 5   after 10 s of silence it is asked every 5 s
# --mca oob_tcp_keepalive_probes 3  three times
# --mca plm_rsh_args -o ServerAliveInterval=5 -o ServerAliveCountMax=6  the same for ssh: it would wait for a quarter of an hour
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
mpirun -n 4 --rankfile /runs/one/rankfile -x PATH -x LD_LIBRARY_PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x MASTER_ADDR -x MASTER_PORT -x DDLRUN_RANKS --wdir /home/user --mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 3 --mca plm_rsh_args '-o ServerAliveInterval=5 -o ServerAliveCountMax=6' /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- python train_ddp.py
