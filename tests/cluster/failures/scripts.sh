# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Job scripts that another shell reads, or none.
needs=slurm
kind module_under_dash X43 - - "a job script for bash, run by dash"
break_module_under_dash() {
  printf '#!/bin/sh\nmodule load openmpi\npython3 nosuch.py\n' | home_file job.sh
  batch -N 1
}
kind source_under_dash "X43|J80" - - "source in a job script for dash"
break_source_under_dash() {
  printf '#!/bin/sh\nsource env/bin/activate\npython3 -c "import torch_of_the_env"\n' | home_file job.sh
  batch -N 1
}
kind slurm_bad_interpreter "X42|F20" - - "a job script whose interpreter is not there"
break_slurm_bad_interpreter() {
  printf '#!/opt/none/bin/bash\nhostname\n' | home_file job.sh
  batch -N 1
}
