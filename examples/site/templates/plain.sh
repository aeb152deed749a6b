#!/bin/bash
#SBATCH --job-name={{name|sbatch}} --time={{walltime|sbatch}} --account={{account|sbatch}}
#SBATCH --partition={{queue|sbatch}} --nodes={{nodes|int}} --ntasks-per-node={{ranks_per_node|int}}
#SBATCH --gpus-per-node={{gpus_per_node|int}}
#SBATCH --output={{output|sbatch}} --open-mode=append
end() { echo $? >{{exit_status_file|sh}}${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}; }; trap end EXIT
cd {{workdir|sh}} || exit 1
{{launch|sh}}
