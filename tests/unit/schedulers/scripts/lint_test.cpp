// SPDX-License-Identifier: MIT
// Every finding with a script that must have it and one, as near as can be, that must not.
#include "schedulers/scripts/lint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace ddlrun::job_scripts;

namespace {

struct LintRow {
  const char* id;
  const char* bad;
  const char* good;
};

// In the shorthand of the table: P and S stand for sound heads of the two systems.
const std::string named_pbs_head = "#!/bin/bash\n#PBS -N t\n#PBS -l walltime=1:00:00\n";
const std::string named_slurm_head = "#!/bin/bash\n#SBATCH -J t\n#SBATCH --time=1:00:00\n";

std::string unfold(std::string_view text) {
  if (text.starts_with("P ")) return named_pbs_head + std::string(text.substr(2));
  if (text.starts_with("S ")) return named_slurm_head + std::string(text.substr(2));
  return std::string(text);
}

std::vector<Finding> lint(std::string_view text) {
  return lint_script(parse_job_script(unfold(text), "f"), {});
}
bool has(const std::vector<Finding>& findings, std::string_view id) {
  return std::any_of(findings.begin(), findings.end(),
                     [id](const Finding& finding) { return finding.id == id; });
}

const LintRow lint_rows[] = {
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
    {"directive-misspelt", "S # SBATCH -N 2\n", "S ##SBATCH -N 2\n"},
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
    {"ompthreads-missing", "P #PBS -l select=1:ncpus=8:mpiprocs=4\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=4:ompthreads=2\n"},
    {"mpiprocs-uneven", "P #PBS -l select=1:ncpus=7:mpiprocs=2:ompthreads=3\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=3\n"},
    {"threads-over-cores", "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=8\n",
     "P #PBS -l select=1:ncpus=8:mpiprocs=2:ompthreads=4\n"},
    {"place-missing", "P #PBS -l select=2:ncpus=8\n", "P #PBS -l select=2:ncpus=8 -l place=scatter\n"},
    {"mixed-styles", "P #PBS -l select=1:ncpus=8 -l nodes=2\n", "P #PBS -l nodes=2:ppn=2\n"},
    {"mixed-styles", "P #PBS -l select=1:ncpus=8,mem=2gb\n", "P #PBS -l select=1:ncpus=8:mem=2gb\n"},
    {"blank-in-list", "P #PBS -l ncpus=2, -l mem=2gb\n", "P #PBS -l ncpus=2,mem=2gb\n"},
    {"walltime-missing", "#!/bin/sh\n#PBS -N t\n", "P true\n"},
    {"bad-time", "#!/bin/sh\n#PBS -l walltime=4h\n", "#!/bin/sh\n#PBS -l walltime=4:00:00\n"},
    {"bad-time", "#!/bin/sh\n#SBATCH -t 4h\n", "#!/bin/sh\n#SBATCH -t 1-4\n"},
    {"bare-time", "#!/bin/sh\n#PBS -l walltime=30\n", "#!/bin/sh\n#PBS -l walltime=0:30\n"},
    {"walltime-short-form", "#!/bin/sh\n#PBS -l walltime=4:00\n", "#!/bin/sh\n#PBS -l walltime=04:00:00\n"},
    {"bad-name", "#!/bin/sh\n#PBS -N \"a b\"\n", "#!/bin/sh\n#PBS -N a-b\n"},
    {"export-all", "P #PBS -V\n", "P #PBS -v A\n"},
    {"array-not-rerunable", "P #PBS -r n -J 0-3\n", "P #PBS -r y -J 0-3\n"},
    {"tasks-mismatch", "S #SBATCH -N 2 -n 4 --ntasks-per-node=4\n",
     "S #SBATCH -N 2 -n 8 --ntasks-per-node=4\n"},
    {"memory-twice", "S #SBATCH --mem=1G --mem-per-cpu=1G\n", "S #SBATCH --mem=1G\n"},
    {"gpu-styles", "S #SBATCH --gres=gpu:2 --gpus=4\n", "S #SBATCH --gres=fast:2 --gpus=4\n"},
    {"gpu-hidden", "S #SBATCH --gpus-per-task=1\n", "S #SBATCH --gpus-per-node=1 --gpu-bind=none\n"},
    {"gpu-hidden", "S srun --gpu-bind=single:1 a\n", "S srun --gpu-bind=none a\n"},
    {"requeue-truncates", "S #SBATCH --requeue\n", "S #SBATCH --requeue --open-mode=append\n"},
    {"array-one-file", "S #SBATCH -a 0-3 -o out\n", "S #SBATCH -a 0-3 -o out.%a\n"},
    {"signal-untrapped", "S #SBATCH --signal=B:USR1@60\na\n", "S #SBATCH --signal=USR1@60\na\n"},
    {"signal-late", "S #SBATCH --signal=B:USR1@60\ntrap x USR1\nsrun a\n",
     "S #SBATCH --signal=B:USR1@60\ntrap x USR1\nsrun a & wait\n"},
    {"signal-elsewhere", "S #SBATCH --signal=USR1@60\ntrap x USR1\na & wait\n",
     "S #SBATCH --signal=B:USR1@60\ntrap x USR1\na & wait\n"},
    {"bash-under-sh", "#!/bin/sh\n#PBS -N t\nmodule load a\n", "P module load a\n"},
    {"unquoted-path", "P cd $PBS_O_WORKDIR\n", "P cd \"$PBS_O_WORKDIR\"\n"},
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
    {"bound-to-one-core", "P #PBS -l select=1:ncpus=68\nmpirun -n 1 a\n",
     "P #PBS -l select=1:ncpus=68\nmpirun -n 1 --bind-to none a\n"},
    {"bound-to-one-core", "S export OMP_NUM_THREADS=8\nmpirun -np 2 a\n",
     "S export OMP_NUM_THREADS=8\nmpirun -np 4 a\n"},
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
    {"launcher-in-srun", "S srun mpirun a\n", "S srun a\n"},
    {"rank-variable-early", "S srun bash -c \"echo $SLURM_PROCID\"\n",
     "S srun bash -c 'echo $SLURM_PROCID'\n"},
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
    {"option-unknown", "P #PBS -l select=1:ncpus=2 -t 0-3\n", "P #PBS -l nodes=1:ppn=2 -t 0-3%2\n"},
    {"old-nodes", "P #PBS -l nodes=1:ppn=2\n", "P #PBS -l nodes=1:ppn=2:gpus=1\n"},
    {"ompthreads-missing", "P #PBS -l nodes=1:ppn=8\nmpirun a\n",
     "P #PBS -l nodes=1:ppn=8:gpus=4\nmpirun a\n"},
    {"ompthreads-missing", "P #PBS -l nodes=1:ppn=8\nmpirun a\n",
     "P #PBS -l nodes=1:ppn=8\nddlrun launch 8x1x1 -- a\n"},
    {"devices-by-hand", "S #SBATCH --gpus-per-node=2\nexport CUDA_VISIBLE_DEVICES=0,1\n",
     "S export CUDA_VISIBLE_DEVICES=\n"},
};

const char* kisti = R"(#!/bin/sh
#PBS -N test
#PBS -V
#PBS -l select=4:ncpus=68:mpiprocs=1:ompthreads=68
#PBS -q normal
#PBS -l walltime=04:00:00
#PBS -A caffe

cd $PBS_O_WORKDIR
module purge
source /apps/mlslvars.sh
export KMP_AFFINITY=verbose,granularity=fine,compact=1
export OMP_NUM_THREADS=60
mpirun -PSM2 -prepend-rank caffe train </p>
--solver ./solver.prototxt
# 혹은
./scripts/run_intelcaffe.sh --hostfile $PBS_NODEFILE </p>
--network opa --ppn 1 --num_omp_threads 60
exit 0
)";

}  // namespace

TEST_SUITE_BEGIN("schedulers/scripts/lint");

TEST_CASE("each finding where it belongs, and not beside") {
  for (const LintRow& row : lint_rows) {
    CAPTURE(row.id);
    CAPTURE(row.bad);
    CAPTURE(row.good);
    CHECK(has(lint(row.bad), row.id));
    CHECK_FALSE(has(lint(row.good), row.id));
  }
}

TEST_CASE("a centre's public script has its known faults") {
  const auto findings = lint(kisti);
  for (const char* id : {"export-all", "place-missing", "bash-under-sh", "unquoted-path", "web-page-remains",
                         "other-mpi-option", "alternatives-both-run", "exit-0"}) {
    CAPTURE(id);
    CHECK(has(findings, id));
  }
  // libomp 14 on a pretended 68x4 machine: 60 threads on 15 cores, four on the fullest.
  const bool reported = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.what.find("15") != std::string::npos && finding.place.line == 12;
  });
  CHECK(reported);
  const bool differ = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.what.find("68") != std::string::npos && finding.what.find("60") != std::string::npos &&
           finding.place.line == 13;
  });
  CHECK(differ);
}

TEST_CASE("one mistake is one finding") {
  const auto reported = [](std::string_view text) {
    std::vector<std::string> all;
    for (const Finding& finding : lint(text)) all.push_back(finding.id + " | " + finding.hint);
    return all;
  };
  using Reported = std::vector<std::string>;
  const std::string tail = "#PBS -l walltime=1:00:00\n";
  CHECK(reported("#!/bin/sh\n#PBS -N my long job name\n" + tail) ==
        Reported{"word-in-directive | -N my_long_job_name"});
  CHECK(reported("#!/bin/sh\n#PBS -N my long job name\n" + tail + "#PBS --mail me\n").size() == 2);
  CHECK(reported("#!/bin/sh\n#PBS -q a # b c\n" + tail) ==
        Reported{"comment-in-directive | put the comment on a line of its own"});
  CHECK(reported("P #PBS -l select=1:ncpus=8:mpiprocs=4\n") ==
        Reported{"ompthreads-missing | :ompthreads=2"});
}

TEST_CASE("Torque's options are OpenPBS's errors") {
  const auto script =
      parse_job_script("#!/bin/sh\n#PBS -l nodes=2:ppn=8 -l walltime=1:00:00 -t 0-7%2\n", "f");
  const auto ids = [&script](PbsKind kind) {
    LintContext context;
    context.pbs_kind = kind;
    return lint_script(script, context);
  };
  CHECK(ids(PbsKind::torque).empty());
  CHECK(ids(PbsKind::unspecified).empty());
  CHECK(has(ids(PbsKind::open_pbs), "option-unknown"));
  // Alone, nodes= is taken by both: a note on threads, no finding to stop at.
  const auto both = lint("P #PBS -l nodes=2:ppn=8\nmpirun a\n");
  CHECK(has(both, "ompthreads-missing"));
  CHECK_FALSE(needs_attention(both));
}

TEST_CASE("findings on one number give one advice") {
  std::set<std::string> hints;
  for (const Finding& finding :
       lint("P #PBS -l select=1:ncpus=68:mpiprocs=2:ompthreads=34\nexport OMP_NUM_THREADS=136\n"))
    if (finding.id == "ompthreads-differ" || finding.id == "threads-over-cores") hints.insert(finding.hint);
  CHECK(hints == std::set<std::string>{"ompthreads=34, and leave the export out"});
}

TEST_CASE("what to type fits the script") {
  struct Hint {
    const char *file, *text, *id, *what, *hint;
  };
  const Hint hints[] = {
      {"-", "#!/bin/sh\r\n#PBS -N a\r\n", "crlf", "", "tr -d '\\r' < FILE"},
      {"f", "#!/bin/sh\r\n#PBS -N a\r\n", "crlf", "", "sed -i 's/\\r$//' f"},
      {"f", "#!/bin/sh\n#PBS -l walltime=4:00\n", "walltime-short-form", "4 minutes", "walltime=04:00:00, "},
      {"f", "#PBS -N a\nexport KMP_BLOCKTIME,1\n", "export-no-name", "", "export KMP_BLOCKTIME=1"},
      {"f", "#PBS -N a\nmpirun -PSM2 -prepend-rank a\n", "other-mpi-option", "-PSM2, -prepend-rank are",
       "which mpirun"},
      {"f", "#PBS -N a\nmodule load impi/2018\nmpirun -PSM2 a\n", "other-mpi-option",
       "of Intel MPI, whose module is loaded", "nothing, if"},
      {"f", "#PBS -N a\nmodule load intel/2018\nmpirun -PSM2 a\n", "other-mpi-option", "or MPICH",
       "which mpirun"},
      {"f", kisti, "kmp-trailing", "", "KMP_AFFINITY=verbose,granularity=fine,compact,1,0"},
  };
  for (const Hint& row : hints) {
    CAPTURE(row.text);
    bool found = false;
    for (const Finding& finding : lint_script(parse_job_script(row.text, row.file), {})) {
      if (finding.id != row.id) continue;
      found = true;
      CAPTURE(finding.what);
      CAPTURE(finding.hint);
      CHECK(finding.what.find(row.what) != std::string::npos);
      CHECK(finding.hint.find(row.hint) != std::string::npos);
    }
    CHECK(found);
  }
}

TEST_CASE("sound scripts are left alone") {
  const char* sound[] = {
      "P #PBS -l select=2:ncpus=8:mpiprocs=2:ompthreads=4 -l place=scatter\ncd \"$PBS_O_WORKDIR\" || exit\n"
      "mpirun -n 4 --map-by ppr:2:node:PE=4 --hostfile \"$PBS_NODEFILE\" ./a\n",
      "S #SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=2 --gpus-per-node=4\n"
      "srun --cpus-per-task=\"$SLURM_CPUS_PER_TASK\" --gpu-bind=none ./a\n",
      "S #SBATCH --requeue --open-mode=append --signal=B:USR1@120\ntrap 'kill -USR1 \"$child\"' USR1\n"
      "mpirun -n 1 a & child=$!\nwait \"$child\"\n"};
  for (const char* text : sound) {
    CAPTURE(text);
    for (const Finding& finding : lint(text)) CAPTURE(finding.id);
    CHECK_FALSE(needs_attention(lint(text)));
  }
}

TEST_CASE("the centre's rules") {
  ddlrun::templates::SiteProfile site;
  site.name = "centre";
  site.scheduler = "pbs";
  site.required = {"application", "walltime"};
  site.application_directive = "-A {}";
  site.walltime_most_seconds = 7200;
  LintContext context;
  context.site = &site;
  const auto ids = [&context](const std::string& text) {
    std::set<std::string> all;
    for (const Finding& finding : lint_script(parse_job_script(text, "f"), context))
      if (finding.id.starts_with("site-")) all.insert(finding.id);
    return all;
  };
  CHECK(ids("#!/bin/sh\n#PBS -A caffe -l walltime=2:00:00\n").empty());
  CHECK(ids("#!/bin/sh\n#PBS -l walltime=2:00:00\n") == std::set<std::string>{"site-field-missing"});
  CHECK(ids("#!/bin/sh\n#PBS -A caffe -l walltime=2:00:01\n") == std::set<std::string>{"site-walltime"});
  // The queue's limit goes first; without -q the centre's usual queue counts.
  site.queue_walltimes = {{"normal", 3600}};
  CHECK(ids("#!/bin/sh\n#PBS -A caffe -q other -l walltime=2:00:00\n").empty());
  CHECK(ids("#!/bin/sh\n#PBS -A caffe -q normal -l walltime=2:00:00\n") ==
        std::set<std::string>{"site-walltime"});
  CHECK(ids("#!/bin/sh\n#PBS -A caffe -l walltime=2:00:00\n").empty());
  site.defaults.emplace_back("queue", ddlrun::YamlValue{});
  site.defaults.back().second.text = "normal";
  CHECK(ids("#!/bin/sh\n#PBS -A caffe -l walltime=2:00:00\n") == std::set<std::string>{"site-walltime"});
  CHECK(ids("#!/bin/sh\n#SBATCH -n 1\n") == std::set<std::string>{"site-scheduler"});
}

TEST_CASE("a report of thousands of one kind is short") {
  std::string text = named_pbs_head;
  for (int i = 0; i < 5000; ++i) text += "cd $PBS_O_WORKDIR\n";
  CHECK(lint(text).size() <= 60);
}

TEST_SUITE_END();
