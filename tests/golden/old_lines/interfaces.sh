#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# processes that a rank forks later (data loaders) inherit the core of the thread that forks them; with --affinity off they may use all cores of the rank
# framework horovod: train.py line 2 imports horovod (--framework)
# ranks are numbered host by host, as horovod assumes (--order ddl: over the hosts)
# PYTHONPATH reaches no rank: -x PYTHONPATH passes it to all ranks
# rank 0 gets no DDLRUN_RESULT: it is on h1, not on this host; write to a file that both hosts share

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 1x2x1
#host = h1,h2
#dimX = 1
#dimY = 2
#dimZ = 1
#sockets = 2
#cores = 10

rank 0=h1           slot=0:0-9;1:0-9

rank 1=h2           slot=0:0-9;1:0-9


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"h[1-2]","kind_of_host":[0,0],"ranks":["0","1"],"kinds":[[{"pus":"0-159"}]],"groups":[{"first":0,"ranks":2,"set":{"HOROVOD_RANK":"{rank}","HOROVOD_SIZE":"{size}","HOROVOD_LOCAL_RANK":"{local_rank}","HOROVOD_LOCAL_SIZE":"{local_size}","HOROVOD_CROSS_RANK":"{node}","HOROVOD_CROSS_SIZE":"{nodes}"}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export HOROVOD_CONTROLLER=mpi
export MKL_NUM_THREADS=20
export OMP_NUM_THREADS=20
export OMP_PLACES=cores
export OMP_PROC_BIND=close
export NCCL_SOCKET_IFNAME="${NCCL_SOCKET_IFNAME:?set it first: values given by -x are not shown}"
export OMPI_MCA_btl_tcp_if_include="${OMPI_MCA_btl_tcp_if_include:?set it first: values given by -x are not shown}"

# -n 2                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x LD_LIBRARY_PATH                libraries are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                20: the cores of each rank; more threads would share cores
# -x OMP_PLACES                     cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
# -x OMP_PROC_BIND                  close: thread after thread on core after core of the rank, and it stays there
# -x MKL_NUM_THREADS                20: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
# -x OMPI_MCA_btl_tcp_if_include    you set it; passed by name: only the command line of ddlrun shows its value
# -x NCCL_SOCKET_IFNAME             you set it; passed by name: only the command line of ddlrun shows its value
# -x HOROVOD_CONTROLLER             mpi: ranks connect over MPI, which starts them
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# --wdir /home/user        without it, ranks of a host that lacks it start in $HOME
# --mca oob_tcp_keepalive_time 10   a host that goes away is noticed within 30 s, not 8 min
# --mca oob_tcp_keepalive_intvl 5   after 10 s of silence it is asked every 5 s
# --mca oob_tcp_keepalive_probes 3  three times
# --mca plm_rsh_args -o ServerAliveInterval=5 -o ServerAliveCountMax=6  the same for ssh: it would wait for a quarter of an hour
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
# rank HOROVOD_RANK                 {rank}: as MPI numbers it
# rank HOROVOD_SIZE                 {size}: as MPI numbers it
# rank HOROVOD_LOCAL_RANK           {local_rank}: which GPU of its host a script takes
# rank HOROVOD_LOCAL_SIZE           {local_size}: ranks of its host
# rank HOROVOD_CROSS_RANK           {node}: which host
# rank HOROVOD_CROSS_SIZE           {nodes}: how many hosts
mpirun -n 2 --rankfile /runs/one/rankfile -x PATH -x LD_LIBRARY_PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND -x MKL_NUM_THREADS -x OMPI_MCA_btl_tcp_if_include -x NCCL_SOCKET_IFNAME -x HOROVOD_CONTROLLER -x DDLRUN_RANKS --wdir /home/user --mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 3 --mca plm_rsh_args '-o ServerAliveInterval=5 -o ServerAliveCountMax=6' /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- python train.py
