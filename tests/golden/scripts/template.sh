#!/bin/bash
#SBATCH --job-name=own --nodes=2 --ntasks-per-node=4
#SBATCH --time=01:00:00 --output=DIRECTORY/output.log --open-mode=append
end() { echo $? >DIRECTORY/exit_status; }; trap end EXIT
./a $'it\047s \044\050x\051'
