// SPDX-License-Identifier: MIT
// The directory of the submission has train.py, and nothing else.
#include "schedulers/scripts/lint.hpp"
#include "schedulers/scripts/lint_examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::job_scripts;

namespace {

// The hint of the finding; "" where there is none.
std::string found_in(const std::string& script) {
  LintContext context;
  context.files = &example_files();
  const auto all = lint_script(parse_job_script(unfold_example(script), "f"), context);
  const auto found = std::ranges::find(all, "script-missing", &Finding::id);
  return found == all.end() ? "" : found->hint;
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/scripts/lint_files");

TEST_CASE("a mistyped script, alone and behind what starts it") {
  for (const char* command :
       {"python3 trian.py", "python3 -u trian.py --lr 3", "srun python3 trian.py",
        "srun -n 4 -c 2 python3 trian.py", "srun --mpi=pmix --export ALL python -W ignore trian.py",
        "srun -- python3 trian.py", "mpirun -np 4 --bind-to core python3 trian.py",
        "mpiexec -n 4 -x PATH /usr/bin/python3.11 trian.py", "orterun -n 2 bash -e trian.py",
        "horovodrun -np 4 python trian.py", "srun numactl --localalloc python3 trian.py",
        "OMP_NUM_THREADS=4 srun python3 trian.py", "numactl -l python3 trian.py", "srun ./trian.py",
        "./trian.py"}) {
    CAPTURE(std::string(command));
    const bool by_path = std::string(command).find("./") != std::string::npos;
    CHECK(found_in("S " + std::string(command) + "\n")
              .starts_with(by_path ? "./train.py   #" : "train.py   #"));
  }
}

TEST_CASE("no script, one that is there or may be, and one that the job makes") {
  for (const char* command :
       {"srun python3 train.py", "srun python3 -m trian.py", "srun python3 -c 'import trian'",
        "srun ./a.out trian.py", "srun python3 /scratch/trian.py", "srun python3 \"$DIR/trian.py\"",
        "srun python3 other_name.py", "cp /scratch/x trian.py; srun python3 trian.py",
        "echo 'print(1)' > trian.py; python3 trian.py", "cd runs; srun python3 trian.py",
        "echo srun python3 trian.py", "srun --chdir=/scratch python3 trian.py",
        "mpirun -wdir /scratch python3 trian.py"}) {
    CAPTURE(std::string(command));
    CHECK(found_in("S " + std::string(command) + "\n").empty());
  }
  CHECK(found_in("S #SBATCH --chdir=/scratch\npython3 trian.py\n").empty());
}

TEST_CASE("PBS starts a job in the home directory") {
  CHECK(found_in("P mpirun -n 4 python3 trian.py\n").empty());
  CHECK_FALSE(found_in("P cd \"$PBS_O_WORKDIR\"\nmpirun -n 4 python3 trian.py\n").empty());
  CHECK_FALSE(found_in("P cd ${PBS_O_WORKDIR} || exit 1\nmpirun python3 trian.py\n").empty());
}

TEST_SUITE_END();
