#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# processes that a rank forks later (data loaders) inherit the core of the thread that forks them; with --affinity off they may use all cores of the rank
# framework tensorflow: keras_mnist.py line 2 imports tensorflow and uses MultiWorkerMirroredStrategy (--framework)
# ranks are numbered host by host, as tensorflow assumes (--order ddl: over the hosts)

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 1x2x1
#host = a,b
#dimX = 1
#dimY = 2
#dimZ = 1
#sockets = 2
#cores = 10

rank 0=a           slot=0:0-9;1:0-9

rank 1=b           slot=0:0-9;1:0-9


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"a,b","kind_of_host":[0,0],"ranks":["0","1"],"kinds":[[{"pus":"0-159"}]],"groups":[{"first":0,"ranks":2,"name":"worker","set":{"TF_CONFIG":"{\"cluster\":{\"worker\":[\"a:2222\",\"b:2222\"]},\"task\":{\"type\":\"worker\",\"index\":{group_rank}}}"}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export KMP_BLOCKTIME=1
export MKL_NUM_THREADS=20
export OMP_NUM_THREADS=20
export OMP_PLACES=cores
export OMP_PROC_BIND=close
export TF_NUM_INTEROP_THREADS=2
export TF_NUM_INTRAOP_THREADS=20

# -n 2                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                20: the cores of each rank; more threads would share cores
# -x OMP_PLACES                     cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
# -x OMP_PROC_BIND                  close: thread after thread on core after core of the rank, and it stays there
# -x KMP_BLOCKTIME                  1: ms that a thread spins after a loop; the default of 200 keeps cores from the other libraries
# -x MKL_NUM_THREADS                20: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
# -x TF_NUM_INTRAOP_THREADS         20: threads of one operator: those of the rank
# -x TF_NUM_INTEROP_THREADS         2: operators at once: with one, parameter servers wait forever
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# --wdir /job        without it, ranks of a host that lacks it start in $HOME
# --mca oob_tcp_keepalive_time 10   a host that goes away is noticed within 30 s, not 8 min
# --mca oob_tcp_keepalive_intvl 5   after 10 s of silence it is asked every 5 s
# --mca oob_tcp_keepalive_probes 3  three times
# --mca plm_rsh_args -o ServerAliveInterval=5 -o ServerAliveCountMax=6  the same for ssh: it would wait for a quarter of an hour
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
# worker TF_CONFIG                  {"cluster":{"worker":["a:2222","b:2222"]},"task":{"type":"worker","index":{group_rank}}}: which tasks there are and which one this is
mpirun -n 2 --rankfile /runs/one/rankfile -x PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND -x KMP_BLOCKTIME -x MKL_NUM_THREADS -x TF_NUM_INTRAOP_THREADS -x TF_NUM_INTEROP_THREADS -x DDLRUN_RANKS --wdir /job --mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 3 --mca plm_rsh_args '-o ServerAliveInterval=5 -o ServerAliveCountMax=6' /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- python keras_mnist.py
