# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="submitit" library=torch place=slurm
version() { "$pypi/bin/pip" list 2> /dev/null | awk '$1 == "submitit" { print $1, $2 }'; }
file_of_launcher=submit.py
write_file() {
  cat << 'PYTHON'
import runpy, subprocess, sys
import submitit

def rank(program):
    submitit.helpers.TorchDistributedEnvironment().export()
    runpy.run_path(program, run_name="__main__") if program.endswith(".py") else subprocess.run(program, check=True)

executor = submitit.AutoExecutor(folder="submitit")
executor.update_parameters(nodes=2, tasks_per_node=2, timeout_min=10, slurm_additional_parameters=dict(one.split("=") for one in sys.argv[2:]))
executor.submit(rank, sys.argv[1]).results()
PYTHON
}
type_command() { words=(python3 submit.py "${program[-1]}" "${wanted[@]#--}"); }
