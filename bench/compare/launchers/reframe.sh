# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
title="ReFrame" library=mpi place=slurm
# Its scheduler "slurm" asks sacct; the lab has no accounting, so "squeue".
version() { echo "ReFrame $("$pypi/bin/reframe" --version)"; }
file_of_launcher=check.py
write_file() {
  cat << 'PYTHON'
import reframe as rfm
import reframe.utility.sanity as sn

site_configuration = {
    "systems": [{"name": "lab", "hostnames": ["node1"], "partitions": [
        {"name": "normal", "scheduler": "squeue", "launcher": "srun", "environs": ["none"]}]}],
    "environments": [{"name": "none"}]}

@rfm.simple_test
class Work(rfm.RunOnlyRegressionTest):
    valid_systems = ["lab:normal"]
    valid_prog_environs = ["none"]
    sourcesdir = None
    num_tasks = 4
    num_tasks_per_node = 2
    time_limit = "10m"

    @run_before("run")
    def mpi(self):
        self.job.launcher.options = ["--mpi=pmix", f"--chdir={__file__.rsplit('/', 1)[0]}"]

    @sanity_function
    def ended_well(self):
        return sn.assert_found("ended well", self.stdout)
PYTHON
}
type_command() { words=(reframe -C check.py -c check.py "${wanted[@]/#--/-J}" -S "executable=${program[*]}" -r); }
