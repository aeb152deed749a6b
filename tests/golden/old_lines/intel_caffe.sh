#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# MLSL_ROOT is not set, and MLSL ends without it: source its mlslvars.sh first
# Intel Caffe is linked with Intel MPI: its mpiexec.hydra has to start it
# PYTHONPATH reaches no rank: -x PYTHONPATH passes it to all ranks
# --rank-output prefix is done by launch itself: this script leaves the ranks' output as it comes

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 1x4x1
#host = n1,n2,n3,n4
#dimX = 1
#dimY = 4
#dimZ = 1
#sockets = 1
#cores = 68

rank 0=n1           slot=0:0-67

rank 1=n2           slot=0:0-67

rank 2=n3           slot=0:0-67

rank 3=n4           slot=0:0-67


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"n[1-4]","kind_of_host":[0,0,0,0],"ranks":["0","1","2","3"],"kinds":[[{"pus":"0-67","numa":0}]],"groups":[{"first":0,"ranks":4,"set":{}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export GLOG_minloglevel=0
export HFI_NO_CPUAFFINITY=1
export INTERNAL_THREADS_PIN=66,67
export I_MPI_DEBUG=6
export I_MPI_DYNAMIC_CONNECTION=0
export I_MPI_FABRICS=shm:tmi
export I_MPI_FALLBACK=0
export I_MPI_PIN_DOMAIN=node
export I_MPI_PIN_MODE=lib
export I_MPI_SCALABLE_OPTIMIZATION=0
export I_MPI_TMI_PROVIDER=psm2
export KMP_AFFINITY='proclist=[0-5,8-67],granularity=thread,explicit'
export KMP_HW_SUBSET=1t
export MLSL_LOG_LEVEL=0
export MLSL_NUM_SERVERS=2
export MLSL_SERVER_AFFINITY=6,7
export OMP_NUM_THREADS=66

# -n 4                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x LD_LIBRARY_PATH                libraries are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                66: 68 cores of a rank, 2 for MLSL's servers, 0 left free
# -x MLSL_NUM_SERVERS               2: processes that send, for each rank; skx has so many
# -x MLSL_SERVER_AFFINITY           6,7: cores that OpenMP leaves to the servers
# -x MLSL_LOG_LEVEL                 0: --debug
# -x I_MPI_FABRICS                  shm:tmi: --network opa: shared memory within a host, Omni-Path's messages between them
# -x I_MPI_TMI_PROVIDER             psm2: --network opa
# -x HFI_NO_CPUAFFINITY             1: the Omni-Path driver is to leave our cores alone
# -x I_MPI_DYNAMIC_CONNECTION       0: connect all ranks at the start
# -x I_MPI_SCALABLE_OPTIMIZATION    0: as Intel Caffe's script has it
# -x I_MPI_PIN_MODE                 lib: Intel MPI pins in its library
# -x I_MPI_PIN_DOMAIN               node: a rank has its whole host
# -x I_MPI_FALLBACK                 0: another network than the one requested is an error
# -x I_MPI_DEBUG                    6: Intel MPI prints network and pinning at the start
# -x KMP_HW_SUBSET                  1t: one thread a core
# -x KMP_AFFINITY                   proclist=[0-5,8-67],granularity=thread,explicit: a thread on each core that no server has
# -x INTERNAL_THREADS_PIN           66,67: where the threads that read data run
# -x GLOG_minloglevel               0: Caffe prints losses at this level
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# --wdir /home/user        without it, ranks of a host that lacks it start in $HOME
# --mca oob_tcp_keepalive_time 10   a host that goes away is noticed within 30 s, not 8 min
# --mca oob_tcp_keepalive_intvl 5   after 10 s of silence it is asked every 5 s
# --mca oob_tcp_keepalive_probes 3  three times
# --mca plm_rsh_args -o ServerAliveInterval=5 -o ServerAliveCountMax=6  the same for ssh: it would wait for a quarter of an hour
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
mpirun -n 4 --rankfile /runs/one/rankfile -x PATH -x LD_LIBRARY_PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x MLSL_NUM_SERVERS -x MLSL_SERVER_AFFINITY -x MLSL_LOG_LEVEL -x I_MPI_FABRICS -x I_MPI_TMI_PROVIDER -x HFI_NO_CPUAFFINITY -x I_MPI_DYNAMIC_CONNECTION -x I_MPI_SCALABLE_OPTIMIZATION -x I_MPI_PIN_MODE -x I_MPI_PIN_DOMAIN -x I_MPI_FALLBACK -x I_MPI_DEBUG -x KMP_HW_SUBSET -x KMP_AFFINITY -x INTERNAL_THREADS_PIN -x GLOG_minloglevel -x DDLRUN_RANKS --wdir /home/user --mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 3 --mca plm_rsh_args '-o ServerAliveInterval=5 -o ServerAliveCountMax=6' /bin/sh -c '[ -x "$0" ] && exec "$0" "$@"; while [ "$1" != -- ]; do shift; done; shift; exec "$@"' /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- caffe train --solver ./models/intel_optimized_models/multinode/alexnet_4nodes/solver.prototxt
