// SPDX-License-Identifier: MIT
#include "schedulers/scripts/lint_fix.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::job_scripts;

namespace {

FixedScript fix(const std::string& text) { return fix_script(parse_job_script(text, "f"), {}); }

const std::string head = "#!/bin/bash\n#PBS -N t\n#PBS -l walltime=1:00:00\n";

}  // namespace

TEST_SUITE_BEGIN("schedulers/scripts/lint_fix");

TEST_CASE("what is beyond doubt is corrected, and nothing else") {
  struct Row {
    std::string bad, good;
  };
  const std::string cd = "cd \"$PBS_O_WORKDIR\" || exit 1\n";
  for (const Row& row : {
           Row{"#!/bin/bash\r\n#PBS -N t\r\n#PBS -l walltime=1:00:00\r\ntrue\r\n", head + "true\n"},
           Row{"\xEF\xBB\xBF" + head + "true\n", head + "true\n"},
           Row{head + "#PBS\xC2\xA0-q a\n", head + "#PBS -q a\n"},
           Row{head + "/bin/a \xE2\x80\x93n 2 \xE2\x80\x9Cx y\xE2\x80\x9D\n", head + "/bin/a -n 2 \"x y\"\n"},
           Row{head + "/bin/a \\ \n  -n 2\n", head + "/bin/a \\\n  -n 2\n"},
           Row{head + "/bin/a </p>\n  -n 2\n", head + "/bin/a \\\n  -n 2\n"},
           Row{head + "# a comment\nmodule load x\npython train.py\n",
               head + "# a comment\n" + cd + "module load x\npython train.py\n"},
           Row{head + "if true; then\n  ./a\nfi\n", head + cd + "if true; then\n  ./a\nfi\n"},
           Row{head + "cp a $TMPDIR/b $HOME\n", head + "cp a \"$TMPDIR\"/b \"$HOME\"\n"},
           Row{head + "/bin/a  -n 2 # sound\n", head + "/bin/a  -n 2 # sound\n"},
       }) {
    CAPTURE(row.bad);
    const FixedScript fixed = fix(row.bad);
    CHECK(fixed.text == row.good);
    CHECK_FALSE(needs_attention(fixed.remaining));
    CHECK(fixed.fixed.empty() == (row.bad == row.good));
    CHECK(fix(fixed.text).text == fixed.text);
  }
  const FixedScript shell = fix("#!/bin/sh\n#PBS -N t\n#PBS -l walltime=1:00:00\nsource /etc/profile\n");
  CHECK(shell.text.starts_with("#!/bin/bash\n"));
}

TEST_CASE("a remedy that is a whole line is carried out where it leaves no choice") {
  const std::string slurm = "#!/bin/bash\n#SBATCH -J t\n#SBATCH --time=1:00:00\n";
  const std::string chunks = "#PBS -l select=2:ncpus=4:mpiprocs=4:ompthreads=1\n";
  struct Row {
    std::string bad, good;
  };
  for (const Row& row : {
           Row{head + chunks + "#PBS -j oe\n/bin/a\n",
               head + chunks + "#PBS -l place=scatter\n#PBS -j oe\n/bin/a\n"},
           Row{head + chunks + "#PBS -j oe\n./a\n",
               head + chunks + "#PBS -l place=scatter\n#PBS -j oe\ncd \"$PBS_O_WORKDIR\" || exit 1\n./a\n"},
           Row{head + "export A=1 KMP_AFFINITY='granularity=fine,compact' # why\n",
               head + "export A=1 KMP_AFFINITY=granularity=fine,compact,1,0 # why\n"},
           Row{head + "export KMP_AFFINITY=verbose,compact=1\n",
               head + "export KMP_AFFINITY=verbose,granularity=fine,compact,1,0\n"},
           Row{head + "export KMP_BLOCKTIME=soon; /bin/a\n", head + "export KMP_BLOCKTIME=1; /bin/a\n"},
           Row{slurm + "#SBATCH --requeue\nsrun /bin/a\n",
               slurm + "#SBATCH --requeue\n#SBATCH --open-mode=append\nsrun /bin/a\n"},
           Row{slurm + "#SBATCH --export=NONE\nsrun /bin/a && \\\n  srun /bin/b\n",
               slurm + "#SBATCH --export=NONE\nunset SLURM_EXPORT_ENV\nsrun /bin/a && \\\n  srun /bin/b\n"},
           Row{slurm + "#SBATCH -N 2\nexport MASTER_ADDR=localhost\nsrun /bin/a\n",
               slurm + "#SBATCH -N 2\nexport MASTER_ADDR=\"$(scontrol show hostnames "
                       "\"$SLURM_JOB_NODELIST\" | head -n 1)\"\nsrun /bin/a\n"},
       }) {
    CAPTURE(row.bad);
    const FixedScript fixed = fix(row.bad);
    CHECK(fixed.text == row.good);
    CHECK_FALSE(needs_attention(fixed.remaining));
    CHECK(fix(fixed.text).text == fixed.text);
  }
  // With place=scatter chunks of one rank each might never start; the value of a lost brace is not known.
  for (const std::string& kept :
       {head + "#PBS -l select=8:ncpus=1:mpiprocs=1\n/bin/a\n",
        head + "export KMP_AFFINITY=granularity=fine,proclist=[0,1\n", head + "export A = 1\n"}) {
    CAPTURE(kept);
    CHECK(fix(kept).text == kept);
    CHECK(needs_attention(fix(kept).remaining));
  }
}

TEST_CASE("--fix writes what the finding's remedy says") {
  struct Row {
    std::string shebang, command, fixed;
  };
  for (const Row& row :
       {Row{"#!/bin/sh", "source a", "#!/bin/bash"}, Row{"#!/bin/sh", "module load a", "#!/bin/bash -l"},
        Row{"#!/bin/sh -e", "source a", "#!/bin/bash -e"},
        Row{"#!/bin/sh -e", "source a\nmodule load a", "#!/bin/bash -el"},
        Row{"#!/bin/sh -l", "module load a", "#!/bin/bash -l"},
        Row{"#!/bin/dash --login", "conda activate a", "#!/bin/bash --login"}}) {
    CAPTURE(row.shebang);
    const std::string text = row.shebang + "\n#PBS -N t\n#PBS -l walltime=1:00:00\n" + row.command + "\n";
    for (const Finding& finding : lint_script(parse_job_script(text, "f"), {}))
      CHECK(finding.hint == row.fixed);
    const FixedScript fixed = fix(text);
    CHECK(fixed.text.starts_with(row.fixed + "\n"));
    CHECK(fixed.remaining.empty());
  }
  const std::string nodes = "#PBS -l nodes=2:ppn=1", after = "cd \"$PBS_O_WORKDIR\"\n./a\n";
  for (const std::string& lines :
       {std::string("#PBS -l place=scatter\n") + nodes + "\n", nodes + " -l place=scatter\n",
        nodes + ",place=scatter\n", std::string("#PBS -l place=scatter -l nodes=2:ppn=1\n")}) {
    CAPTURE(lines);
    CHECK(fix(head + lines + after).text == head + nodes + "\n" + after);
  }
  // Another place means something: a person decides, and the remedy is a whole line.
  const FixedScript packed = fix(head + nodes + " -l place=pack\n" + after);
  CHECK(packed.text == head + nodes + " -l place=pack\n" + after);
  CHECK(packed.remaining.front().hint == "#PBS -l select=2:ncpus=1:mpiprocs=1 -l place=pack");
  const std::string slurm = "#!/bin/bash\n#SBATCH -J t\n#SBATCH --time=1:00:00\n";
  CHECK(fix(slurm + "cd $PBS_O_WORKDIR\n").text == slurm + "cd \"$SLURM_SUBMIT_DIR\" || exit 1\n");
  CHECK(fix(head + "cd ${SLURM_SUBMIT_DIR} || exit; ./a\n").text ==
        head + "cd \"$PBS_O_WORKDIR\" || exit; ./a\n");
}

TEST_CASE("what a person must decide is left, with its line in the new script") {
  const FixedScript fixed = fix(head + "export OMP_NUM_THREADS,4\r\n./a\n");
  REQUIRE(fixed.remaining.size() == 1);
  CHECK(fixed.remaining[0].id == "export-no-name");
  CHECK(fixed.remaining[0].place.line == 5);
  CHECK(render_counts(fixed.remaining) == "1 error");
  CHECK(render_counts({}) == "nothing");
}

TEST_SUITE_END();
