# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by slurm.sh: writes slurm.conf and gres.conf. CPUs and GPUs are pretended: Slurm believes the file
# (config_overrides), and a GPU is a device file like /dev/null, enough for allocation and CUDA_VISIBLE_DEVICES.

write_slurm_conf() { # HOSTS CPUS GPUS; $slurm is its directory
  local slurm=$LAB_DIR/slurm
  local nodes="${LAB_PREFIX}[1-$1]"
  cat << CONF
ClusterName=lab
SlurmctldHost=$(host_name 1)
AuthType=auth/munge
${LAB_SLURM_REQUEUE_AFTER:+AuthInfo=cred_expire=$LAB_SLURM_REQUEUE_AFTER}
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$LAB_DIR/%n/slurmd.spool
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$LAB_DIR/%n/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
JobCompType=jobcomp/filetxt
JobCompLoc=$slurm/jobcomp.txt
JobAcctGatherType=jobacct_gather/linux
MinJobAge=${LAB_SLURM_MINJOBAGE:-300}
InactiveLimit=0
KillWait=${LAB_SLURM_KILLWAIT:-5}
MaxArraySize=1001
PropagateResourceLimits=${LAB_SLURM_PROPAGATE:-ALL}
CONF
  local gres=
  if [ "$3" -gt 0 ]; then
    echo "GresTypes=gpu"
    gres="Gres=gpu:p100:$3 "
  fi
  echo "NodeName=$nodes CPUs=$2 Boards=1 SocketsPerBoard=1 CoresPerSocket=$2 ThreadsPerCore=1" \
    "RealMemory=${LAB_SLURM_MEMORY:-20000} ${gres}State=UNKNOWN"
  echo "PartitionName=normal Nodes=$nodes Default=YES MaxTime=48:00:00 State=UP"
  echo "PartitionName=debug Nodes=$(host_name 1) MaxTime=00:30:00 State=UP"
  [ -z "${LAB_SLURM_MORE-}" ] || echo "$LAB_SLURM_MORE"
}

write_gres_conf() { # HOSTS GPUS
  local index gpu devices
  [ "$2" -gt 0 ] || return 0
  for ((index = 1; index <= $1; index++)); do
    devices=$LAB_DIR/$(host_name "$index")/dev
    mkdir -p "$devices"
    for ((gpu = 0; gpu < $2; gpu++)); do
      [ -e "$devices/nvidia$gpu" ] || mknod "$devices/nvidia$gpu" c 1 3
    done
    echo "NodeName=$(host_name "$index") Name=gpu Type=p100 File=$devices/nvidia[0-$(($2 - 1))]"
  done
}
