// SPDX-License-Identifier: MIT
// The shell of a script in the other scheduler's words, and what is said about the rest.
#include "schedulers/scripts/convert.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::job_scripts;

namespace {

const std::string pbs_head =
    "#!/bin/bash\n#PBS -l select=2:ncpus=8:mpiprocs=4:ompthreads=2 -l place=scatter\n";
const std::string slurm_head = "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=4 -c 2\n";

std::string converted(const std::string& text, Dialect to) {
  return convert_script(parse_job_script(text, "f"), to, nullptr).text;
}
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct ConvertRow {
  const char* before;
  const char* after;
};

}  // namespace

TEST_SUITE_BEGIN("schedulers/scripts/convert");

TEST_CASE("variables of PBS") {
  const ConvertRow rows[] = {
      {"cd $PBS_O_WORKDIR", "cd \"$SLURM_SUBMIT_DIR\""},
      {"echo \"$PBS_JOBID\"", "echo \"$SLURM_JOB_ID\""},
      {"x=${PBS_JOBID%%.*}", "x=${SLURM_JOB_ID%%.*}"},
      {"x=$((PBS_X + $PBS_ARRAY_INDEX))", "x=$((PBS_X + $SLURM_ARRAY_TASK_ID))"},
      {"./a $PBS_ARRAY_INDEX.in", "./a \"$SLURM_ARRAY_TASK_ID\".in"},
      {"echo '$PBS_JOBNAME'", "echo '$SLURM_JOB_NAME'"},
      {"# $PBS_JOBID", "# $PBS_JOBID"},
      {"mpirun -n 8 --hostfile $PBS_NODEFILE ./a", "mpirun -n 8 ./a"},
      {"mpirun -machinefile \"$PBS_NODEFILE\" -n 8 ./a", "mpirun -n 8 ./a"},
      {"mpirun --hostfile mine -n 8 ./a", "mpirun --hostfile mine -n 8 ./a"},
      {"echo \\$PBS_JOBID", "echo \\$PBS_JOBID"},
  };
  for (const ConvertRow& row : rows) {
    CAPTURE(row.before);
    const std::string text = converted(pbs_head + "cd /\n" + row.before + "\n", Dialect::slurm);
    CHECK(holds(text, "\n" + std::string(row.after) + "\n"));
  }
}

TEST_CASE("variables and commands of Slurm") {
  const ConvertRow rows[] = {
      {"cd \"$SLURM_SUBMIT_DIR\"", "cd \"$PBS_O_WORKDIR\""},
      {"echo $SLURM_JOB_ID", "echo \"$PBS_JOBID\""},
      {"for h in $(scontrol show hostnames \"$SLURM_JOB_NODELIST\"); do :; done",
       "for h in $(awk '!seen[$0]++' \"$PBS_NODEFILE\"); do :; done"},
      {"srun --cpu-bind=cores ./a b",
       "mpirun -n 8 --hostfile \"$PBS_NODEFILE\" --map-by ppr:4:node:PE=2 --bind-to core ./a b"},
      {"srun -N 2 -n 2 -c 8 ./a",
       "mpirun -n 2 --hostfile \"$PBS_NODEFILE\" --map-by ppr:1:node:PE=8 --bind-to core ./a"},
      {"mpirun -n $SLURM_NTASKS ./a", "mpirun -n \"$SLURM_NTASKS\" ./a"},
  };
  for (const ConvertRow& row : rows) {
    CAPTURE(row.before);
    const std::string text = converted(slurm_head + row.before + "\n", Dialect::pbs);
    CHECK(holds(text, "\n" + std::string(row.after) + "\n"));
  }
  CHECK(holds(converted(slurm_head + "echo $SLURM_NTASKS\n", Dialect::pbs), "\nSLURM_NTASKS=8\n"));
}

TEST_CASE("what the directives leave to srun is read from its line") {
  const std::string head = "#!/bin/bash\n#SBATCH -N 2\n";
  const ConvertRow rows[] = {
      {"srun --ntasks=8 --ntasks-per-node=4 --cpus-per-task=2 --gres=gpu:4 ./a",
       "#PBS -l select=2:ncpus=8:mpiprocs=4:ompthreads=2:ngpus=4\n"},
      {"srun -n8 -c 2 --gpus-per-node=v100:4 ./a", ":mpiprocs=4:ompthreads=2:ngpus=4"},
      {"srun --ntasks-per-node 4 --gpus 8 ./a", "select=2:ncpus=4:mpiprocs=4:ompthreads=1:ngpus=4\n"},
      {"srun hostname\nsrun -n 8 ./a", "select=2:ncpus=4:mpiprocs=4"},
      {"horovodrun -np 4 -H a:2,b:2 python t.py", "select=2:ncpus=2:mpiprocs=2:ompthreads=1\n"},
      {"srun --mem 4G -n 2 ./a",
       "\nmpirun -n 2 --hostfile \"$PBS_NODEFILE\" --map-by ppr:1:node:PE=1 --bind-to core ./a\n"},
      {"srun -n 4 ./a &\nsrun -n 4 ./b &\nwait", "select=2:ncpus=1:mpiprocs=1"},  // beside each other
  };
  for (const ConvertRow& row : rows) {
    CAPTURE(row.before);
    CHECK(holds(converted(head + row.before + "\n", Dialect::pbs), row.after));
  }
  // What they do ask stays, and a step beyond it is reported.
  const std::string more = converted(slurm_head + "srun -N 4 --gres=gpu:2 ./a\n", Dialect::pbs);
  CHECK(holds(more, "select=2:ncpus=8:mpiprocs=4:ompthreads=2"));
  CHECK(holds(more, "srun: 4 nodes, the job has 2: the job lacks --nodes=4"));
  const std::string gpus =
      converted(slurm_head + "#SBATCH --gres=gpu:2\nsrun --gres=gpu:4 ./a\n", Dialect::pbs);
  CHECK(holds(gpus, "srun: 4 GPUs of a node, the job has 2"));
}

TEST_CASE("what PBS does by itself is done by the script") {
  CHECK(holds(converted(pbs_head + "./a\n", Dialect::slurm), "\ncd \"$HOME\" || exit\n"));
  CHECK_FALSE(holds(converted(pbs_head + "cd $PBS_O_WORKDIR\n./a\n", Dialect::slurm), "$HOME"));
  CHECK(holds(converted(pbs_head + "./a\n", Dialect::slurm), "\nexport OMP_NUM_THREADS=2\n"));
  CHECK_FALSE(holds(converted(pbs_head + "export OMP_NUM_THREADS=1\n", Dialect::slurm), "OMP_NUM_THREADS=2"));
  CHECK(holds(converted(pbs_head + "cat $PBS_NODEFILE\n", Dialect::slurm), "i < 4; i++"));
  CHECK_FALSE(holds(converted(pbs_head + "mpirun --hostfile $PBS_NODEFILE a\n", Dialect::slurm), "mktemp"));
  CHECK(holds(converted(slurm_head + "./a\n", Dialect::pbs), "\ncd \"$PBS_O_WORKDIR\" || exit\n"));
}

TEST_CASE("the node file repeats each host once per rank, chunk by chunk") {
  const auto made = [](const std::string& select, const std::string& line) {
    return converted("#!/bin/bash\n#PBS -l select=" + select + "\ncd /\n" + line + "\n", Dialect::slurm);
  };
  const std::string unlike = "1:ncpus=4:mpiprocs=1+2:ncpus=16:mpiprocs=16 -l place=scatter";
  const std::string text =
      made(unlike, "NP=$(wc -l < $PBS_NODEFILE)\nmpirun -n $NP --hostfile $PBS_NODEFILE ./a");
  CHECK(holds(text, "awk '{ n = NR <= 1 ? 1 : 16; for (i = 0; i < n; i++) print }'"));
  CHECK(holds(text, "3 nodes of 16 cores, 48 cores instead of 36"));
  CHECK(holds(text, "33 ranks (1+2x16)"));
  CHECK(holds(text, "\nmpirun -n $NP --hostfile \"$PBS_NODEFILE.slots\" ./a\n"));
  CHECK(holds(text, "{ print $2 \" slots=\" $1 }' >\"$PBS_NODEFILE.slots\""));
  CHECK(holds(made("2:ncpus=4:mpiprocs=2+1:ncpus=4:mpiprocs=2", "cat $PBS_NODEFILE"), "i < 2; i++"));
}

TEST_CASE("Intel MPI keeps its node file") {
  const std::string text =
      converted(pbs_head + "cd /\nmpirun -n 2 -ppn 1 -f $PBS_NODEFILE ./a\n", Dialect::slurm);
  CHECK(holds(text, "\nmpirun -n 2 -ppn 1 -f \"$PBS_NODEFILE\" ./a\n"));
  CHECK(holds(text, "export PBS_NODEFILE\n"));
  CHECK(holds(text, "-f $PBS_NODEFILE: kept: the mpirun of Intel MPI"));
  CHECK_FALSE(holds(text, "Open MPI takes the hosts"));
}

TEST_CASE("what srun hands over, mpirun is reported") {
  const std::string text = converted(
      slurm_head +
          "export MASTER_ADDR=h1 MASTER_PORT=1\nexport OMPI_MCA_pml=ob1\nX=1\nsrun ./a\nexport LATE=1\n",
      Dialect::pbs);
  CHECK(holds(text, "--bind-to core -x MASTER_ADDR -x MASTER_PORT ./a\n"));
  CHECK(holds(text, "only the variables that -x names"));
  CHECK(holds(converted(slurm_head + "module load a\nA=1 srun ./a\n", Dialect::pbs),
              " -x PATH -x LD_LIBRARY_PATH -x A ./a\n"));
}

TEST_CASE("steps beside each other stay, and are reported") {
  const auto result = [](const std::string& body) {
    return convert_script(parse_job_script(slurm_head + body, "f"), Dialect::pbs, nullptr);
  };
  const auto wrong = [](const Conversion& conversion) {
    return std::any_of(conversion.unsupported.begin(), conversion.unsupported.end(),
                       [](const Unsupported& item) { return item.wrong; });
  };
  for (const char* body : {"for i in 1 2; do\n  srun -N1 -n4 --exclusive ./a $i &\ndone\nwait\n",
                           "srun -N1 ./a &\nsrun -N1 ./b | tee log &\nwait\n"}) {
    CAPTURE(body);
    CHECK_FALSE(holds(result(body).text, "mpirun -n"));
    CHECK(holds(result(body).text, "PBS has no steps"));
    CHECK(wrong(result(body)));
  }
  const auto one = result("srun ./a &\nwait\n");
  CHECK(holds(one.text, "\nmpirun -n 8"));
  CHECK_FALSE(wrong(one));
}

TEST_CASE("commands of a scheduler within words are reported") {
  const ConvertRow rows[] = {{"trap 'scontrol requeue $SLURM_JOB_ID' USR1", "scontrol: a command of Slurm"},
                             {"jobs=$(squeue -h -u me)", "squeue: a command of Slurm"},
                             {"n=`sinfo -h`", "sinfo: a command of Slurm"},
                             {"bash -c 'srun hostname'", "srun within another command: PBS has no srun"},
                             {"srun --gpus-per-task=1 ./a", "$OMPI_COMM_WORLD_LOCAL_RANK"}};
  for (const ConvertRow& row : rows) {
    CAPTURE(row.before);
    CHECK(holds(converted(slurm_head + row.before + "\n", Dialect::pbs), row.after));
  }
  const std::string own_gpus = "#!/bin/bash\n#SBATCH -n 2 --gpus-per-task=1\nsrun ./a\n";
  CHECK(holds(converted(own_gpus, Dialect::pbs),
              "--gpus-per-task=1: under Slurm a rank saw its own GPUs only"));
  CHECK(holds(converted(pbs_head + "aprun -n 8 ./a\n", Dialect::slurm), "aprun: a command of PBS"));
  CHECK(holds(converted(pbs_head + "trap 'qrerun $PBS_JOBID' TERM\n", Dialect::slurm), "scontrol requeue"));
}

TEST_CASE("what Torque does not set is not set") {
  const std::string torque = "#!/bin/bash\n#PBS -l nodes=2:ppn=8\n#PBS -t 0-9%2\ncd /\n./a\n";
  CHECK_FALSE(holds(converted(torque, Dialect::slurm), "OMP_NUM_THREADS"));
}

TEST_CASE("values with commas are set by the script") {
  const std::string text = converted("#!/bin/bash\n#PBS -v A=\"x,y\",B='c d'\ncd /\n./a\n", Dialect::slurm);
  CHECK(holds(text, "\nexport A=x,y\n"));
  CHECK(holds(text, "splits --export at every comma"));
}

TEST_CASE("the first line") {
  const auto first = [](const std::string& text, Dialect to) {
    const std::string all = converted(text, to);
    return all.substr(0, all.find('\n'));
  };
  CHECK(first("#PBS -N x\ntrue\n", Dialect::slurm) == "#!/bin/bash");
  CHECK(first("#!/bin/sh\n#PBS -N x\ntrue\n", Dialect::slurm) == "#!/bin/sh");
  CHECK(first("#!/bin/sh\n#PBS -N x\nsource a\n", Dialect::slurm) == "#!/bin/bash");
  CHECK(first("#!/bin/bash\n#PBS -N x\nmodule load a\n", Dialect::slurm) == "#!/bin/bash -l");
  CHECK(first("#PBS -N x\n#PBS -S /bin/zsh\ntrue\n", Dialect::slurm) == "#!/bin/zsh");
  CHECK(first("#!/bin/bash\n#SBATCH -N 1\nmodule load a\n", Dialect::pbs) == "#!/bin/bash");
}

TEST_CASE("nothing is dropped silently") {
  const ConvertRow rows[] = {{"#PBS -W sandbox=PRIVATE", "sandbox=PRIVATE"},
                             {"#PBS -l software=x", "software=x"},
                             {"#PBS -W umask=077", "umask 077"},
                             {"#PBS -k oe", "-k oe"},
                             {"#PBS -l place=group=rack", "group=rack"},
                             {"#PBS -p 5", "-p 5"},
                             {"#PBS -a 0304", ""},
                             {"#PBS -q @server2", "-q @server2"},
                             {"#PBS -o $HOME/out", "expands no variables"},
                             {"#PBS -t %2", "-t %2"},
                             {"#PBS -W depend=before:3", "before:3"}};
  for (const ConvertRow& row : rows) {
    CAPTURE(row.before);
    const auto result = convert_script(
        parse_job_script(std::string("#!/bin/sh\n") + row.before + "\ntrue\n", "f"), Dialect::slurm, nullptr);
    const bool said =
        std::any_of(result.unsupported.begin(), result.unsupported.end(),
                    [&row](const Unsupported& item) { return holds(item.text + " " + item.why, row.after); });
    CHECK(said);
    for (const Unsupported& item : result.unsupported) CHECK(holds(result.text, item.text.substr(0, 20)));
  }
  // A line that was dead before does not come to life.
  const std::string woken =
      converted("#!/bin/sh\n#SBATCH -N 1\n#PBS -l nodes=9\ntrue\n#SBATCH -p never\n", Dialect::pbs);
  CHECK_FALSE(holds(woken, "\n#PBS -l nodes=9"));
  CHECK_FALSE(holds(woken, "-q never"));
  const std::string late = converted("#!/bin/sh\n#PBS -N x\ntrue\n#SBATCH -p never\n", Dialect::slurm);
  CHECK_FALSE(holds(late, "\n#SBATCH -p never"));
}

TEST_CASE("refusals") {
  const auto none = parse_job_script("true\n", "f"), slurm = parse_job_script("#SBATCH -N 1\n", "f");
  CHECK_THROWS_AS(convert_script(none, Dialect::slurm, nullptr), ddlrun::Error);
  CHECK_THROWS_AS(convert_script(slurm, Dialect::slurm, nullptr), ddlrun::Error);
  const auto own = parse_job_script("#PBS -N x\n# Written by ddlrun submit; the next line ends it.\n", "f");
  CHECK_THROWS_AS(convert_script(own, Dialect::slurm, nullptr), ddlrun::Error);
}

TEST_CASE("what a centre does not have is reported") {
  ddlrun::templates::SiteProfile site;
  site.name = "centre";
  site.title = "nodes without GPUs";
  site.queue_walltimes = {{"normal", 172800}};
  site.defaults.push_back({"queue", {}});
  site.defaults.back().value.text = "normal";
  site.defaults.push_back({"cores_per_node", {}});
  site.defaults.back().value.text = "68";
  const auto script =
      parse_job_script("#SBATCH -p gpu_v100 -N 1 --ntasks-per-node=72 --gres=gpu:4 -t 60:00:00\n", "f");
  const std::string text = convert_script(script, Dialect::pbs, &site).text;
  CHECK(holds(text, "queue gpu_v100: the profile of centre names no such queue: normal"));
  CHECK(holds(text, "walltime 60:00:00: centre allows 48:00:00 at most"));
  CHECK(holds(text, "4 GPUs of each node: centre has none"));
  CHECK(holds(text, "72 cores of each node: a node of centre has 68"));
  const auto fits = parse_job_script("#SBATCH -p normal -N 1 --ntasks-per-node=68 -t 48:00:00\n", "f");
  CHECK_FALSE(holds(convert_script(fits, Dialect::pbs, &site).text, "centre"));
}

TEST_CASE("a centre carries the application elsewhere") {
  ddlrun::templates::SiteProfile site;
  site.name = "centre";
  site.application_directive = "--comment={}";
  const auto script = parse_job_script("#PBS -A caffe\n#PBS -N x\n", "f");
  const std::string text = convert_script(script, Dialect::slurm, &site).text;
  CHECK(holds(text, "\n#SBATCH --comment=caffe\n"));
  CHECK_FALSE(holds(text, "--account"));
  // Where it has the account's place, an account is no application.
  site.application_directive = "-A {}";
  const auto slurm = parse_job_script("#SBATCH -A lab\n#SBATCH -N 1\n", "f");
  const std::string pbs = convert_script(slurm, Dialect::pbs, &site).text;
  CHECK(holds(pbs, "\n#PBS -A lab\n"));
  CHECK(holds(pbs, "lab: centre carries the application as -A {}"));
  CHECK_FALSE(holds(pbs, "some centres"));
  CHECK(holds(convert_script(slurm, Dialect::pbs, nullptr).text, "some centres"));
  const auto both = parse_job_script("#SBATCH -A lab --comment=caffe\n#SBATCH -N 1\n", "f");
  const std::string one = convert_script(both, Dialect::pbs, &site).text;
  CHECK(holds(one, "\n#PBS -A caffe\n"));
  CHECK_FALSE(holds(one, "\n#PBS -A lab\n"));
}

TEST_SUITE_END();
