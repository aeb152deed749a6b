// SPDX-License-Identifier: MIT
#include "schedulers/scripts/lint_examples.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/lint.hpp"
#include "templates/site_profile_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace ddlrun::job_scripts {

namespace {

constexpr std::string_view pbs_example_head = "#!/bin/bash\n#PBS -N t\n#PBS -l walltime=1:00:00\n";
constexpr std::string_view slurm_example_head = "#!/bin/bash\n#SBATCH -J t\n#SBATCH --time=1:00:00\n";

constexpr LintExample examples[] = {
    {"crlf", "#!/bin/bash\r\n#PBS -N a\r\n", "#!/bin/bash\n#PBS -N a\n"},
    {"byte-order-mark", "\xEF\xBB\xBF#!/bin/bash\n", "#!/bin/bash\n"},
    {"odd-blank",
     "S #SBATCH\xC2\xA0-N 2\n#SBATCH -n\xC2\xA0"
     "2\n",
     "S #SBATCH -N 2\n# a\xC2\xA0"
     "b\n"},
    {"odd-dash", "S #SBATCH \xE2\x80\x93N 2\n", "S #SBATCH -N 2\n"},
    {"odd-quote", "S echo \xE2\x80\x9Cx\xE2\x80\x9D\n", "S echo \"x\"\n"},
    {"backslash-blank", "S a \\ \nb\n", "S a \\\nb\n"},
    {"continued-into-comment", "S a \\\n# b\n", "S a \\\nb\n"},
    {"web-page-remains", "P mpirun a </p>\n--b\n", "P mpirun a \\\n--b\n"},
    {"shebang-missing", "#SBATCH -N 1\n", "#!/bin/sh\n#SBATCH -N 1\n"},
    {"shebang-not-first", "\n#!/bin/sh\n#SBATCH -N 1\n", "#!/bin/sh\n#SBATCH -N 1\n"},
    {"no-directives", "#!/bin/sh\ntrue\n", "#!/bin/sh\n#PBS -N t\ntrue\n"},
    {"directive-after-command", "S true\n#SBATCH -N 2\n", "S cat <<E\n#SBATCH -N 2\nE\n"},
    {"directive-behind-blank", "S  #SBATCH -N 2\n", "P  #PBS -q a\n"},
    {"directive-misspelt", "S # SBATCH -N 2\n", "S #SBATCH -N 2\n"},
    {"directive-of-other-scheduler", "S #PBS -N x\n", "S # PBS is not here\n"},
    {"word-in-directive", "S #SBATCH -A my lab\n", "S #SBATCH -A \"my lab\"\n"},
    {"option-unknown", "S #SBATCH --nodez=2\n", "S #SBATCH --nodes=2\n"},
    {"option-unknown", "P #PBS -Z foo\n", "P #PBS -q foo\n"},
    {"option-ambiguous", "S #SBATCH --ex\n", "S #SBATCH --exclus\n"},
    {"value-missing", "S #SBATCH -p\n", "S #SBATCH -p a\n"},
    {"variable-in-directive", "P #PBS -o $HOME/out\n", "P #PBS -o /home/out\n"},
    {"hash-in-value", "S #SBATCH -p a#b\n", "S #SBATCH -p a #b\n"},
    {"comment-in-directive", "P #PBS -q a # b\n", "P #PBS -q a#b\n"},
    {"option-twice", "S #SBATCH -N 2\n#SBATCH --nodes=3\n", "S #SBATCH -N 2\n#SBATCH -n 3\n"},
    {"option-twice", "P #PBS -l mem=1gb\n#PBS -l mem=2gb\n", "P #PBS -l mem=1gb\n#PBS -l ncpus=2\n"},
    {"bad-number", "P #PBS -l select=0:ncpus=2\n", "P #PBS -l select=1:ncpus=2\n"},
    {"bad-number", "P #PBS -l select=1:ncpus=x\n", "P #PBS -l select=1:ncpus=2:ngpus=0\n"},
    {"bad-number", "S #SBATCH -N two\n", "S #SBATCH -N 2-4\n"},
    {"resource-misspelt", "P #PBS -l select=1:ncpus=8:mpiproc=4:ompthreads=2\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=4:ompthreads=2\n"},
    {"ompthreads-missing", "P #PBS -l select=1:ncpus=8:mpiprocs=4\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=4:ompthreads=2\n"},
    {"ompthreads-missing",
     "P #PBS -l select=2:ncpus=4:mpiprocs=2 -l place=scatter\nexport OMP_NUM_THREADS=2\nmpirun -n 4 a\n",
     "P #PBS -l select=2:ncpus=4:mpiprocs=2 -l place=scatter\nexport OMP_NUM_THREADS=2\n"
     "mpirun -n 4 -x OMP_NUM_THREADS a\n"},
    {"ompthreads-missing", "P #PBS -l select=1:ncpus=8:mpiprocs=4\nddlrun launch 4x1 -- ./a\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=4\nddlrun launch 4x1 --threads 2 -- ./a\n"},
    {"mpiprocs-uneven", "P #PBS -l select=1:ncpus=7:mpiprocs=2:ompthreads=3\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=3\n"},
    {"threads-over-cores", "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=8\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=4\n"},
    {"place-missing", "P #PBS -l select=2:ncpus=8\n", "P #PBS -l select=2:ncpus=8 -l place=scatter\n"},
    {"mixed-styles", "P #PBS -l select=1:ncpus=8 -l nodes=2\n", "P #PBS -l nodes=2:ppn=2\n"},
    {"mixed-styles", "P #PBS -l nodes=2:ppn=2 -l place=scatter\n",
     "P #PBS -l select=2:ncpus=2 -l place=scatter\n"},
    {"mixed-styles", "P #PBS -l select=1:ncpus=8,mem=2gb\n", "P #PBS -l select=1:ncpus=8:mem=2gb\n"},
    {"blank-in-list", "P #PBS -l ncpus=2, -l mem=2gb\n", "P #PBS -l ncpus=2,mem=2gb\n"},
    {"walltime-missing", "#!/bin/sh\n#PBS -N t\n", "P true\n"},
    {"bad-time", "#!/bin/sh\n#PBS -l walltime=4h\n", "#!/bin/sh\n#PBS -l walltime=4:00:00\n"},
    {"bad-time", "#!/bin/sh\n#SBATCH -t 4h\n", "#!/bin/sh\n#SBATCH -t 1-4\n"},
    {"bare-time", "#!/bin/sh\n#PBS -l walltime=30\n", "#!/bin/sh\n#PBS -l walltime=0:30\n"},
    {"walltime-short-form", "#!/bin/sh\n#PBS -l walltime=4:00\n", "#!/bin/sh\n#PBS -l walltime=04:00:00\n"},
    {"walltime-short-form", "#!/bin/sh\n#SBATCH --time=4:00\n", "#!/bin/sh\n#SBATCH --time=30:00\n"},
    {"bad-name", "#!/bin/sh\n#PBS -N \"a b\"\n", "#!/bin/sh\n#PBS -N a-b\n"},
    {"export-all", "P #PBS -V\n", "P #PBS -v A\n"},
    {"array-not-rerunable", "P #PBS -r n -J 0-3\n", "P #PBS -r y -J 0-3\n"},
    {"tasks-mismatch", "S #SBATCH -N 2 -n 4 --ntasks-per-node=4\n",
     "S #SBATCH -N 2 -n 8 --ntasks-per-node=4\n"},
    {"bare-memory", "S #SBATCH --mem=64\n", "S #SBATCH --mem=64000\n"},
    {"bare-memory", "S #SBATCH --mem-per-cpu=4\n", "S #SBATCH --mem-per-cpu=4G\n"},
    {"bare-memory", "P #PBS -l select=1:ncpus=2:mem=4\n", "P #PBS -l select=1:ncpus=2:mem=4gb\n"},
    {"memory-twice", "S #SBATCH --mem=1G --mem-per-cpu=1G\n", "S #SBATCH --mem=1G\n"},
    {"gpu-styles", "S #SBATCH --gres=gpu:2 --gpus=4\n", "S #SBATCH --gpus=4\n"},
    {"gpu-hidden", "S #SBATCH --gpus-per-task=1\n", "S #SBATCH --gpus-per-node=1 --gpu-bind=none\n"},
    {"gpu-hidden", "S srun --gpu-bind=single:1 a\n", "S srun --gpu-bind=none a\n"},
    {"requeue-truncates", "S #SBATCH --requeue\n", "S #SBATCH --requeue --open-mode=append\n"},
    {"array-one-file", "S #SBATCH -a 0-3 -o out\n", "S #SBATCH -a 0-3 -o out.%a\n"},
    {"signal-untrapped", "S #SBATCH --signal=B:USR1@60\na\n", "S #SBATCH --signal=USR1@60\na\n"},
    {"signal-late", "S #SBATCH --signal=B:USR1@60\ntrap x USR1\nsrun a\n",
     "S #SBATCH --signal=B:USR1@60\ntrap x USR1\nsrun a & child=$!\nuntil wait \"$child\"; s=$?; ! kill -0 "
     "\"$child\" 2>/dev/null; do :; done; exit \"$s\"\n"},
    {"wait-once", "S #SBATCH --signal=B:USR1@60\ntrap x USR1\nsrun a &\nwait\n",
     "S #SBATCH --signal=B:USR1@60\ntrap x USR1\nsrun a &\nwait\nwait\n"},
    {"command-of-other-scheduler", "P trap 'scontrol requeue \"$PBS_JOBID\"' USR1\n",
     "S scontrol requeue \"$SLURM_JOB_ID\"\n"},
    {"signal-elsewhere", "S #SBATCH --signal=USR1@60\ntrap x USR1\na & wait; wait\n",
     "S #SBATCH --signal=B:USR1@60\ntrap x USR1\na & wait; wait\n"},
    {"bash-under-sh", "#!/bin/sh\n#PBS -N t\nmodule load a\n", "P module load a\n"},
    {"unquoted-path", "P cd $PBS_O_WORKDIR\n", "P cd \"$PBS_O_WORKDIR\"\n"},
    {"cd-to-home", "S cd $PBS_O_WORKDIR\n", "S cd \"$PBS_O_WORKDIR\"\n"},
    {"cd-to-home", "P cd \"$SLURM_SUBMIT_DIR\" || exit\n",
     "P [ -n \"$SLURM_SUBMIT_DIR\" ] && cd \"$SLURM_SUBMIT_DIR\"\n"},
    {"cd-to-home", "P cd ${SLURM_SUBMIT_DIR}\n", "P if x; then cd $SLURM_SUBMIT_DIR; fi\n"},
    {"variable-of-other-scheduler", "S cd \"$PBS_O_WORKDIR\"\n", "S cd \"${PBS_O_WORKDIR:-.}\"\n"},
    {"export-no-name", "P export KMP_BLOCKTIME,1\n", "P export KMP_BLOCKTIME=1 OMP_NUM_THREADS\n"},
    {"export-no-name", "P export A = 1\n", "P export A+=:1 -n B \"$C\"\n"},
    {"no-cd", "P ./a\n", "P cd \"$PBS_O_WORKDIR\"\n./a\n"},
    {"no-cd", "P python -u train.py\n", "P python -u /data/train.py\n"},
    {"no-cd", "P caffe train -solver solver.prototxt\n", "P cd /w\ncaffe train -solver solver.prototxt\n"},
    {"torchrun-without-endpoint", "S srun torchrun --nnodes 2 /w/t.py\n",
     "S srun torchrun --nnodes 2 --rdzv-endpoint n1:29500 /w/t.py\n"},
    {"torchrun-without-endpoint", "P python -m torch.distributed.run --nnodes=4 /w/t.py\n",
     "P torchrun --nnodes=1 /w/t.py\n"},
    {"torchrun-on-first-host", "S #SBATCH -N 2\ntorchrun --nnodes 2 --rdzv-endpoint n1:29500 /w/t.py\n",
     "S #SBATCH -N 2\nsrun torchrun --nnodes 2 --rdzv-endpoint n1:29500 /w/t.py\n"},
    {"torchrun-on-first-host",
     "P #PBS -l select=2:ncpus=4 -l place=scatter\npython3 -m torch.distributed.run --nnodes=2 --master_addr "
     "n1 /w/t.py\n",
     "P #PBS -l select=1:ncpus=4\npython3 -m torch.distributed.run --nnodes=2 --master_addr n1 /w/t.py\n"},
    {"torchrun-on-first-host", "S #SBATCH -N 2\ntorchrun --nproc_per_node=2 /w/t.py\n",
     "S #SBATCH -N 1\ntorchrun --nproc_per_node=2 /w/t.py\n"},
    {"torchrun-separate-runs",
     "S #SBATCH -N 2 --ntasks-per-node=1\nsrun torchrun --nproc_per_node=2 /w/t.py\n",
     "S #SBATCH -N 2 --ntasks-per-node=1\nsrun torchrun --nnodes 2 --rdzv-endpoint n1:29500 /w/t.py\n"},
    {"torchrun-separate-runs", "S #SBATCH -N 2\nsrun torchrun --standalone --nproc_per_node=2 /w/t.py\n",
     "S #SBATCH -N 2\nsrun -N 1 -n 1 torchrun --standalone --nproc_per_node=2 /w/t.py\n"},
    {"torchrun-separate-runs",
     "P #PBS -l select=2:ncpus=4 -l place=scatter\nmpirun -n 2 torchrun --nnodes=1 /w/t.py\n",
     "P #PBS -l select=2:ncpus=4 -l place=scatter\nmpirun -n 1 torchrun --nnodes=1 /w/t.py\n"},
    {"torchrun-per-task", "S #SBATCH -N 2 --ntasks-per-node=4\nsrun torchrun --nproc_per_node=4 /w/t.py\n",
     "S #SBATCH -N 2 --ntasks-per-node=1\nsrun torchrun --nproc_per_node=4 /w/t.py\n"},
    {"torchrun-per-task",
     "S #SBATCH -N 2 -n 8\nsrun python -m torch.distributed.run --nproc-per-node gpu /w/t.py\n",
     "S #SBATCH -N 2 -n 8\nsrun --ntasks-per-node=1 torchrun --nproc-per-node gpu /w/t.py\n"},
    {"master-is-localhost", "S #SBATCH -N 2\nexport MASTER_ADDR=localhost\nsrun /w/t\n",
     "S #SBATCH -N 1\nexport MASTER_ADDR=localhost\nsrun /w/t\n"},
    {"master-is-localhost", "S srun torchrun --nnodes 2 --rdzv-endpoint=127.0.0.1:29500 /w/t.py\n",
     "S srun torchrun --nnodes 2 --rdzv-endpoint=10.1.1.1:29500 /w/t.py\n"},
    {"mpirun-without-hosts", "P #PBS -l select=2:ncpus=4:mpiprocs=4\nmpirun -n 8 /w/a\n",
     "P #PBS -l select=2:ncpus=4:mpiprocs=4\nmpirun -n 8 -hostfile $PBS_NODEFILE /w/a\n"},
    {"mpirun-without-hosts", "P #PBS -l nodes=2:ppn=4\nmpirun -n 8 /w/a\n",
     "P #PBS -l nodes=2:ppn=4\nmodule load impi/2021\nmpirun -n 8 /w/a\n"},
    {"mpirun-without-hosts", "P #PBS -l nodes=2:ppn=4\nexport I_DO=1\nmpirun -n 8 /w/a\n",
     "P #PBS -l nodes=2:ppn=4\nexport I_MPI_FABRICS=shm:ofi\nmpirun -n 8 /w/a\n"},
    {"kmp-and-numactl", "P export KMP_AFFINITY=compact\nexport OMP_NUM_THREADS=4\nnumactl -C 0-3 /bin/a\n",
     "P export KMP_AFFINITY=compact\nexport OMP_NUM_THREADS=4\nnumactl -m 1 /bin/a\n"},
    {"no-cd", "P mpirun -n 1 ./a\n", "S mpirun -n 1 ./a\n"},
    {"wipes-shared-directory", "S rm -rf /dev/shm/*\n", "S rm -rf /dev/shm/mine.*\n"},
    {"wipes-shared-directory", "S srun bash -c 'rm -rf /dev/shm/*'\n", "S srun bash -c 'ls /dev/shm/*'\n"},
    {"host-key-unchecked", "S ssh -o StrictHostKeyChecking=no a b\n", "S ssh a b\n"},
    {"kills-by-name", "S pkill python\n", "S kill \"$child\"\n"},
    {"kill-9", "S kill -9 \"$child\"\n", "S kill -0 \"$child\"\n"},
    {"secret-in-script", "S export WANDB_API_KEY=abc\n", "S export WANDB_API_KEY=$(cat k)\n"},
    {"secret-in-script", "S export DB_PASS=abc\n", "S export TOKENIZERS_PARALLELISM=false\n"},
    {"pipe-hides-status", "S mpirun a | tee log\n", "S set -o pipefail\nmpirun a | tee log\n"},
    {"background-unwaited", "S mpirun a &\n", "S mpirun a &\nwait\n"},
    {"exit-0", "S mpirun a\nexit 0\n", "S mpirun a\nexit $?\n"},
    {"ranks-mismatch", "S #SBATCH -n 4\nmpirun -n 8 a\n", "S #SBATCH -n 4\nmpirun -n 4 a\n"},
    {"ranks-mismatch", "P #PBS -l select=2:ncpus=4:mpiprocs=4:ompthreads=1\nmpirun -np 4 a\n",
     "P #PBS -l select=2:ncpus=4:mpiprocs=4:ompthreads=1\nmpirun -np 8 a\n"},
    {"ranks-mismatch", "S #SBATCH -N 2 --ntasks-per-node=4\nddlrun launch 4x1x1 -- a\n",
     "S #SBATCH -N 2 --ntasks-per-node=4\nddlrun launch 4x2x1 -- a\n"},
    {"ranks-mismatch", "S #SBATCH -N 2 --ntasks-per-node=1\nddlrun launch 2x2 -- a\n",
     "S #SBATCH -N 2 --ntasks-per-node=1\nddlrun launch --launcher srun 2x2 -- a\n"},
    {"bound-to-one-core", "P #PBS -l select=1:ncpus=68\nmpirun -n 1 a\n",
     "P #PBS -l select=1:ncpus=68\nmpirun -n 1 --bind-to none a\n"},
    {"bound-to-one-core", "S export OMP_NUM_THREADS=8\nmpirun -np 2 a\n",
     "S export OMP_NUM_THREADS=8\nmpirun -np 4 a\n"},
    {"bound-to-one-core",
     "S #SBATCH -n 32 --cpus-per-task=8\nexport OMP_NUM_THREADS=8\nmpirun -np 32 --bind-to core a\n",
     "S #SBATCH -n 32 --cpus-per-task=8\nexport OMP_NUM_THREADS=8\nmpirun -np 32 --map-by slot:PE=8 "
     "--bind-to core a\n"},
    {"rankfile-and-map", "S mpirun -rf a --map-by core -n 4 b\n", "S mpirun -rf a -n 4 b\n"},
    {"rankfile-without-n", "S mpirun -rf a b\n", "S mpirun -rf a -n 4 b\n"},
    {"rankfile-against-dims", "S ddlrun gen-rankfile 4x2x1 > a\nmpirun -rf a -n 4 b\n",
     "S ddlrun gen-rankfile 4x2x1 > a\nmpirun -rf a -n 8 b\n"},
    {"other-mpi-option", "S mpirun -PSM2 a\n", "S mpirun --mca pml cm a\n"},
    {"hostfile-without-n", "P #PBS -l select=2:ncpus=4 -l place=scatter\nmpirun --hostfile $PBS_NODEFILE a\n",
     "P #PBS -l select=2:ncpus=4 -l place=scatter\nmpirun -n 2 --hostfile $PBS_NODEFILE a\n"},
    {"srun-without-cpus", "S #SBATCH -c 4\nsrun a\n", "S #SBATCH -c 4\nsrun -c 4 a\n"},
    {"srun-without-cpus", "S #SBATCH -c 4\nsrun a\n",
     "S #SBATCH -c 4\nexport SRUN_CPUS_PER_TASK=4\nsrun a\n"},
    // As real srun of Slurm 22.05 and 24.11 accept and refuse them.
    {"step-over-job", "S #SBATCH -N 2 --ntasks-per-node=4\nsrun -N 4 a\n",
     "S #SBATCH -N 2 --ntasks-per-node=4\nsrun -N 1 a\n"},
    {"step-over-job", "S #SBATCH -N 2 --ntasks-per-node=4\nsrun --ntasks=9 a\n",
     "S #SBATCH -N 2 --exclusive\nsrun --ntasks=9 a\n"},
    {"step-over-job", "S #SBATCH -n 4 -c 2\nsrun -n 4 -c 4 a\n", "S #SBATCH -n 4 -c 2\nsrun -n 8 -c 1 a\n"},
    {"step-over-job", "S #SBATCH -N 2 --ntasks-per-node=2\nsrun -N 2 --ntasks-per-node=3 a\n",
     "S #SBATCH -N 2 --ntasks-per-node=2\nsrun -n 2 --ntasks-per-node=3 a\n"},
    {"step-over-job", "S #SBATCH -n 4 -c 2\nsrun -n 8 a\n", "S #SBATCH -n 4 -c 2\nsrun -n 4 a\n"},
    {"step-over-job", "S #SBATCH -N 2\nsrun --gres=gpu:1 a\n",
     "S #SBATCH -N 2 --exclusive\nsrun --gres=gpu:1 a\n"},
    {"step-over-job", "S #SBATCH -N 2 --gres=gpu:2\nsrun --gres=gpu:a100:4 a\n",
     "S #SBATCH -N 2 --gres=gpu:2\nsrun --gres=gpu:1 a\n"},
    {"step-over-job", "S #SBATCH -n 4 --gpus=2\nsrun --gpus-per-task=1 --mem 4G a\n",
     "S #SBATCH -n 4 --gpus=4\nsrun --gpus-per-task=1 --mem 4G a\n"},
    {"step-over-job", "P #PBS -l select=1:ncpus=8:mpiprocs=4:ompthreads=2\nhorovodrun -np 4 -H a:2,b:2 x\n",
     "P #PBS -l select=2:ncpus=8:mpiprocs=2:ompthreads=4\nhorovodrun -np 4 -H a:2,b:2 x\n"},
    {"ranks-mismatch", "S #SBATCH -N 2 -c 8\nhorovodrun -np 8 -H a:2,b:2 x\n",
     "S #SBATCH -N 2 -c 8\nhorovodrun -np 4 -H a:2,b:2 x\n"},
    {"ranks-mismatch", "S #SBATCH -N 2\nhorovodrun -np 4 x\n",
     "S #SBATCH -N 2 --exclusive\nhorovodrun -np 4 x\n"},
    {"hosts-by-hand", "S #SBATCH -N 2\nmpirun -np 2 -H a,b x\n",
     "S #SBATCH -N 2 -w a,b\nmpirun -np 2 -H a,b x\n"},
    {"hosts-by-hand", "S #SBATCH -N 2 -c 2\nhorovodrun -np 4 -H a:2,b:2 x\n",
     "S #SBATCH -N 2 -c 2\nhorovodrun -np 4 -H \"$HOSTS\" x\n"},
    {"launcher-in-srun", "S srun mpirun a\n", "S srun a\n"},
    {"rank-variable-early", "S srun bash -c \"echo $SLURM_PROCID\"\n",
     "S srun bash -c 'echo $SLURM_PROCID'\n"},
    {"rank-variable-early", "S srun bash -c \"echo it's \\$HOME $SLURM_PROCID\"\n",
     "S srun bash -c \"RANK=\\$SLURM_PROCID python3 \\$HOME/x.py\"\n"},
    {"rank-variable-early", "P mpirun ./a --id=\"$OMPI_COMM_WORLD_RANK\"\n",
     "P mpirun ./a --id='$OMPI_COMM_WORLD_RANK' b\\$OMPI_COMM_WORLD_RANK\n"},
    {"rank-variable-early", "S export RANK=$SLURM_PROCID\nsrun python3 t.py\n",
     "S export RANK=$SLURM_PROCID\npython3 t.py\n"},  // one process: it has the shell's number
    {"rank-variable-early", "S R=${SLURM_PROCID}\nexport RANK=\"$R\"\nsrun python3 t.py\n",
     "S R=${SLURM_JOB_ID}\nexport RUN=\"$R\"\nsrun python3 t.py\n"},
    {"rank-variable-early", "S RANK=$SLURM_LOCALID\nexport RANK\nsrun python3 t.py\n",
     "S RANK=$SLURM_LOCALID\nRANK=0\nexport RANK\nsrun python3 t.py\n"},
    {"rank-variable-early", "S RANK=$SLURM_PROCID srun python3 t.py\n",
     "S RANK='$SLURM_PROCID' srun python3 t.py\n"},
    {"rank-variable-early", "P export R=$PMIX_RANK\nmpirun ./a\n", "P export R=$PBS_JOBID\nmpirun ./a\n"},
    {"alternatives-both-run", "S mpirun a\n# 혹은\nsrun b\n",
     "S if x; then mpirun a\n# 혹은\nelse srun b; fi\n"},
    {"launches-in-a-row", "S mpirun a\nsrun b\n", "S mpirun a\n"},
    {"launches-in-a-row", "P ./run --hostfile $PBS_NODEFILE\nmpirun a\n",
     "P export PBS_NODEFILE\nhead -1 $PBS_NODEFILE\nmpirun a\n"},
    // Slurm 22.05 and Open MPI 4.1: execve(): bash: No such file or directory; unexpectedly failed after
    // launch
    {"export-starves-ranks", "S #SBATCH --export=NONE\nsrun bash a\n",
     "S #SBATCH --export=NONE\nunset SLURM_EXPORT_ENV\nsrun bash a\n"},
    {"export-starves-ranks", "S #SBATCH --export=A=1\nsrun bash a\n",
     "S #SBATCH --export=ALL,A=1\nsrun bash a\n"},
    {"export-starves-ranks", "S #SBATCH --export=NONE -N 2\nmpirun a\n",
     "S #SBATCH --export=NONE -N 2\nsrun --export=ALL a\n"},
    {"launcher-of-other-scheduler", "P srun a\n", "S srun a\n"},
    {"launcher-of-other-scheduler", "S aprun a\n", "P aprun a\n"},
    {"launcher-of-other-scheduler", "P command -v srun\nsrun a\n",
     "P if command -v srun; then srun a; else mpirun a; fi\n"},
    {"launcher-of-other-scheduler",
     "P if [ -z \"$SLURM_JOB_ID\" ]; then x=1; fi\nfor i in 1 2; do srun a; done\n",
     "P [ -n \"$SLURM_JOB_ID\" ] && srun a\n"},
    {"launcher-of-other-scheduler", "P nodes=(a b)\nsrun a\n",
     "P if [ -x \"$(command -v srun)\" ]; then\n  nodes=($(scontrol show hostnames))\n  srun a\nfi\n"},
    {"launcher-of-other-scheduler", "P [[ -v PBS_JOBID ]] && srun a\n",
     "P [[ -v SLURM_JOB_ID ]] && srun a\n"},
    {"launcher-of-other-scheduler", "P if [ -n \"$PBS_JOBID\" ]; then srun a; fi\n",
     "P if [ -n \"${SLURM_JOB_ID:-}\" ]; then\n  srun a\nelse\n  mpirun a\nfi\n"},
    {"option-unknown", "P #PBS -l select=1:ncpus=2 -t 0-3\n", "P #PBS -l nodes=1:ppn=2 -t 0-3%2\n"},
    {"old-nodes", "P #PBS -l nodes=1:ppn=2\n", "P #PBS -l nodes=1:ppn=2:gpus=1\n"},
    {"ompthreads-missing", "P #PBS -l nodes=1:ppn=8\nmpirun a\n",
     "P #PBS -l nodes=1:ppn=8:gpus=4\nmpirun a\n"},
    {"ompthreads-missing", "P #PBS -l nodes=1:ppn=8\nmpirun a\n",
     "P #PBS -l nodes=1:ppn=8\nddlrun launch 8x1x1 -- a\n"},
    {"devices-by-hand", "S #SBATCH --gpus-per-node=2\nexport CUDA_VISIBLE_DEVICES=0,1\n",
     "S export CUDA_VISIBLE_DEVICES=\n"},
    {"continued-into-nothing", "S a \\\n\n", "S a\n"},
    {"rankfile-and-pin", "S export I_MPI_PIN_DOMAIN=omp\nmpirun -rf a -n 4 b\n", "S mpirun -rf a -n 4 b\n"},
    {"runs-as-root", "S mpirun --allow-run-as-root a\n", "S mpirun a\n"},
    {"steps-block", "S srun a &\nsrun b &\nwait\n", "S srun --exact -n 1 a &\nsrun --exact -n 1 b &\nwait\n"},
    {"srun-pmi2", "S srun --mpi=pmi2 a\n", "S srun --mpi=pmix a\n"},
    {"interactive", "P #PBS -I\n", "P true\n"},
    {"old-name-rule", "#!/bin/bash\n#PBS -N a_name_of_20_letters\n#PBS -l walltime=1:00:00\n", "P true\n"},
    {"output-directory", "S #SBATCH -o logs/out.txt\n", "S #SBATCH -o out.txt\n"},
    {"tasks-uneven", "S #SBATCH -N 2 -n 3\n", "S #SBATCH -N 2 -n 4\n"},
    {"kmp-trailing", "P export KMP_AFFINITY=granularity=fine,compact=1\n",
     "P export KMP_AFFINITY=granularity=fine,compact,1,0\n"},
    {"kmp-grammar", "P export KMP_AFFINITY=granularity=fine,compcat\n",
     "P export KMP_AFFINITY=granularity=fine,compact\n"},
    {"kmp-compact",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=4\nexport KMP_AFFINITY=compact\nmpirun -n 2 /bin/a\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=4\nexport "
     "KMP_AFFINITY=granularity=fine,compact,1,0\nmpirun -n 2 /bin/a\n",
     "",
     "A warning if the cores are known to have several hardware threads (--smt, --topology, --site).\n"
     "A note if that is not known. Not reported for cores with one hardware thread, for ranks with one\n"
     "thread, with KMP_HW_SUBSET=1t, or if there is a thread for each hardware thread.\n"},
    {"kmp-and-omp", "P export KMP_AFFINITY=scatter\nexport OMP_PLACES=cores\n/bin/a\n",
     "P export OMP_PLACES=cores\n/bin/a\n"},
    {"ompthreads-differ",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=4\nexport OMP_NUM_THREADS=8\nmpirun -n 2 /bin/a\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=4\nmpirun -n 2 /bin/a\n"},
    {"threads-no-number", "P export OMP_NUM_THREADS=many\n/bin/a\n", "P export OMP_NUM_THREADS=4\n/bin/a\n"},
    {"mkl-differs", "P export OMP_NUM_THREADS=4\nexport MKL_NUM_THREADS=8\n/bin/a\n",
     "P export OMP_NUM_THREADS=4\n/bin/a\n"},
    {"script-missing", "S srun -n 4 python3 trian.py\n", "S srun -n 4 python3 train.py\n", "",
     "Reported for scripts of Python and shells, also behind srun, mpirun and their like, where a file has "
     "a\n"
     "similar name, and until a cd leaves the directory of the submission.\n"},
    {"site-field-missing", "P true\n", "P #PBS -A caffe\n", "scheduler: pbs\nrequired: [account]\n"},
    {"site-walltime", "P true\n", "#!/bin/bash\n#PBS -l walltime=0:30:00\n",
     "scheduler: pbs\nwalltime_most: 30m\n"},
    {"site-scheduler", "S true\n", "P true\n", "scheduler: pbs\n"},
};

// Indented, with bytes that a terminal does not show as escapes.
std::string indented(std::string_view script) {
  std::string text;
  for (const std::string_view line : split(script, '\n')) text += "    " + printable(line, 200) + "\n";
  return text.ends_with("    \n") ? text.substr(0, text.size() - 5) : text;
}

}  // namespace

std::span<const LintExample> lint_examples() { return examples; }

const ScriptFiles& example_files() {
  static const ScriptFiles files{[](const std::string& path) { return path == "train.py"; },
                                 [](const std::string& path) -> std::optional<std::string> {
                                   const std::string_view name = base_name(path);
                                   const auto near =
                                       closest_match(name, std::vector<std::string>{"train.py"});
                                   if (!near) return std::nullopt;
                                   return path.substr(0, path.size() - name.size()) + *near;
                                 }};
  return files;
}

std::string unfold_example(std::string_view text) {
  if (text.starts_with("P ")) return std::string(pbs_example_head) + std::string(text.substr(2));
  if (text.starts_with("S ")) return std::string(slurm_example_head) + std::string(text.substr(2));
  return std::string(text);
}

std::string explain_rule(const std::string& id) {
  const auto example = std::ranges::find(examples, std::string_view(id), &LintExample::id);
  if (example == std::end(examples)) {
    std::vector<std::string> ids;
    for (const LintExample& one : examples) ids.emplace_back(one.id);
    const auto near = closest_match(id, ids);
    throw Error(ErrorKind::usage, {fmt::format("there is no rule '{}'", printable(id, 60)), "--explain",
                                   near ? "--explain " + *near : std::string("lint-script --list-rules")});
  }
  const std::string bad = unfold_example(example->bad);
  LintContext context;
  context.files = &example_files();
  std::optional<templates::SiteProfile> site;
  if (!example->site.empty())
    site = templates::parse_profile(std::string(example->site), "example", "example.yaml");
  if (site) context.site = &*site;
  std::string text = fmt::format("A script with the finding {}{}:\n{}", id,
                                 site ? ", checked for a site" : "", indented(bad));
  const JobScript script = parse_job_script(bad, bad.find("#SBATCH") == bad.npos ? "job.pbs" : "job.sh");
  text += "The report:\n";
  for (const Finding& finding : lint_script(script, context))
    if (finding.id == id) text += indented(render_finding(script.file, finding));
  if (!example->when.empty())
    text += fmt::format("When it is reported, and how:\n{}", indented(example->when));
  return text + "A script without the finding:\n" + indented(unfold_example(example->good));
}

std::string list_rules() {
  std::set<std::string_view> ids;
  for (const LintExample& example : examples) ids.insert(example.id);
  std::string text;
  for (const std::string_view id : ids) text += std::string(id) + "\n";
  return text;
}

}  // namespace ddlrun::job_scripts
