// SPDX-License-Identifier: MIT
// The shell of a script in the other scheduler's words, and what is said about the rest.
#include "job_scripts/convert.hpp"

#include "base/error.hpp"

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

TEST_CASE("what PBS does by itself is done by the script") {
  CHECK(holds(converted(pbs_head + "./a\n", Dialect::slurm), "\ncd \"$HOME\" || exit\n"));
  CHECK_FALSE(holds(converted(pbs_head + "cd $PBS_O_WORKDIR\n./a\n", Dialect::slurm), "$HOME"));
  CHECK(holds(converted(pbs_head + "./a\n", Dialect::slurm), "\nexport OMP_NUM_THREADS=2\n"));
  CHECK_FALSE(holds(converted(pbs_head + "export OMP_NUM_THREADS=1\n", Dialect::slurm), "OMP_NUM_THREADS=2"));
  CHECK(holds(converted(pbs_head + "cat $PBS_NODEFILE\n", Dialect::slurm), "i < 4; i++"));
  CHECK_FALSE(holds(converted(pbs_head + "mpirun --hostfile $PBS_NODEFILE a\n", Dialect::slurm), "mktemp"));
  CHECK(holds(converted(slurm_head + "./a\n", Dialect::pbs), "\ncd \"$PBS_O_WORKDIR\" || exit\n"));
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

TEST_CASE("nothing is dropped in silence") {
  const ConvertRow rows[] = {{"#PBS -W sandbox=PRIVATE", "sandbox=PRIVATE"},
                             {"#PBS -l software=x", "software=x"},
                             {"#PBS -W umask=077", "umask 077"},
                             {"#PBS -k oe", "-k oe"},
                             {"#PBS -l place=group=rack", "group=rack"},
                             {"#PBS -p 5", "-p 5"},
                             {"#PBS -a 0304", ""},
                             {"#PBS -W depend=before:3", "before:3"}};
  for (const ConvertRow& row : rows) {
    CAPTURE(row.before);
    const auto result = convert_script(
        parse_job_script(std::string("#!/bin/sh\n") + row.before + "\ntrue\n", "f"), Dialect::slurm, nullptr);
    const bool said = std::any_of(
        result.leftovers.begin(), result.leftovers.end(),
        [&row](const Leftover& leftover) { return holds(leftover.text + " " + leftover.why, row.after); });
    CHECK(said);
    for (const Leftover& leftover : result.leftovers) CHECK(holds(result.text, leftover.text.substr(0, 20)));
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
