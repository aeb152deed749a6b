// SPDX-License-Identifier: MIT
// Every finding with a script that must have it and one, as near as can be, that must not.
#include "schedulers/scripts/lint.hpp"

#include "base/text/text.hpp"
#include "schedulers/scripts/lint_examples.hpp"
#include "templates/site_profile_yaml.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace ddlrun::job_scripts;
using ddlrun::templates::parse_profile;
using ddlrun::templates::SiteProfile;

namespace {

std::vector<Finding> lint(std::string_view text) {
  return lint_script(parse_job_script(unfold_example(text), "f"), {});
}
bool has(const std::vector<Finding>& findings, std::string_view id) {
  return std::any_of(findings.begin(), findings.end(),
                     [id](const Finding& finding) { return finding.id == id; });
}

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
  for (const LintExample& example : lint_examples()) {
    CAPTURE(example.id);
    CAPTURE(example.bad);
    CAPTURE(example.good);
    LintContext context;
    context.files = &example_files();
    SiteProfile site;
    if (!example.site.empty()) {
      site = parse_profile(std::string(example.site), "centre", "centre.yaml");
      context.site = &site;
    }
    const auto lint_for = [&](std::string_view text) {
      return lint_script(parse_job_script(unfold_example(text), "f"), context);
    };
    CHECK(has(lint_for(example.bad), example.id));
    CHECK_FALSE(has(lint_for(example.good), example.id));
    CHECK(explain_rule(std::string(example.id)).find(fmt::format("[{}]", example.id)) != std::string::npos);
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
        Reported{"word-in-directive | #PBS -N my_long_job_name"});
  CHECK(reported("#!/bin/sh\n#PBS -N my long job name\n" + tail + "#PBS --mail me\n").size() == 2);
  CHECK(reported("#!/bin/sh\n#PBS -q a # b c\n" + tail) ==
        Reported{"comment-in-directive | put the comment on a line of its own"});
  CHECK(reported("P #PBS -l select=1:ncpus=8:mpiprocs=4\n") ==
        Reported{"ompthreads-missing | :ompthreads=2"});
}

TEST_CASE("OMP_NUM_THREADS of the script: on its own host, and with -x on all") {
  const auto remedy = [](const std::string& head, const std::string& rest) {
    for (const Finding& finding : lint("P #PBS -l " + head + " -l place=scatter\ncd /w\n" + rest))
      if (finding.id == "ompthreads-missing") return std::to_string(finding.place.line) + " " + finding.hint;
    return std::string();
  };
  const std::string two = "select=2:ncpus=4:mpiprocs=2", one = "select=1:ncpus=4:mpiprocs=2";
  const std::string set = "export OMP_NUM_THREADS=1\n";
  CHECK(remedy(two, "mpirun -np 4 ./a\n").ends_with(" :ompthreads=2"));
  CHECK(remedy(one, "mpirun -np 2 ./a\n").ends_with(" :ompthreads=2"));
  CHECK(remedy(one, set + "mpirun -np 2 ./a\n").empty());
  CHECK(remedy(two, set + "mpirun -np 4 ./a\n").ends_with(" -x OMP_NUM_THREADS, or :ompthreads=1"));
  CHECK(remedy(two, set + "mpirun -np 4 -x OMP_NUM_THREADS ./a\n").empty());
  CHECK(remedy(two, set + "mpirun -np 4 -x OMP_NUM_THREADS=1 ./a\n").empty());
  CHECK(remedy(two, "module load intel/mpi\n" + set + "mpirun -np 4 ./a\n").empty());
  // launch keeps a variable that is set, and PBS sets it.
  CHECK(remedy("select=4:ncpus=68:mpiprocs=4", "ddlrun launch 4x4 -- ./a\n").ends_with(" :ompthreads=17"));
  CHECK(remedy(two + ":ompthreads=2", "ddlrun launch 2x2 -- ./a\n").empty());
  CHECK(remedy(two, "ddlrun launch 2x2 --threads 2 -- ./a\n").empty());
  CHECK(remedy(two, "ddlrun launch 2x2 -x OMP_NUM_THREADS=2 -- ./a\n").empty());
  CHECK(remedy(two, "unset OMP_NUM_THREADS\nddlrun launch 2x2 -- ./a\n").empty());
  CHECK(remedy(two, set + "ddlrun launch 2x2 -- ./a\n").empty());
}

TEST_CASE("threads without CPUs: the remedy is their CPUs") {
  const auto remedy = [](const std::string& head, const std::string& rest) {
    for (const Finding& finding : lint("S #SBATCH " + head + "\nexport OMP_NUM_THREADS=8\n" + rest))
      if (finding.id == "threads-over-cores") return finding.hint;
    return std::string();
  };
  const std::string torch = "srun torchrun --nnodes 2 --nproc_per_node=4 --rdzv-endpoint=$H:1 t.py\n";
  CHECK(remedy("-N 2 --ntasks-per-node=2", torch) == "#SBATCH --cpus-per-task=16");
  CHECK(remedy("-N 2 --ntasks-per-node=4", "srun ./a\n") == "#SBATCH --cpus-per-task=8");
  CHECK(remedy("-N 2 --ntasks-per-node=4 -c 4", "srun -c 4 ./a\n") == "export OMP_NUM_THREADS=4");
}

TEST_CASE("KMP_AFFINITY of several ranks a node: the effect on one of them") {
  // 17 threads fill 5 cores of 4 hardware threads.
  const auto findings = lint(
      "P #PBS -l select=1:ncpus=68:mpiprocs=4:ompthreads=17 -l place=scatter\n"
      "export KMP_AFFINITY=granularity=fine,compact=1\nmpirun -n 4 ./a\n");
  CHECK(std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.id == "kmp-trailing" &&
           finding.what.ends_with("17 threads of a rank on 5 of its 17 cores, 4 on the fullest");
  }));
}

TEST_CASE("torchrun for one host: the remedy is the whole line for all hosts") {
  const std::string slurm = "S #SBATCH -N 2 --ntasks-per-node=1\n";
  const std::string pbs = "P #PBS -l select=2:ncpus=4 -l place=scatter\ncd /w\n";
  const std::string on_slurm =
      "torchrun --nnodes \"$SLURM_NNODES\" --rdzv-backend c10d --rdzv-endpoint "
      "\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1):29500\"";
  const std::string on_pbs =
      "torchrun --nnodes 2 --rdzv-backend c10d --rdzv-endpoint \"$(head -n 1 \"$PBS_NODEFILE\"):29500\"";
  const std::string by_mpirun =
      "mpirun -n 2 --map-by ppr:1:node --bind-to none --hostfile \"$PBS_NODEFILE\" ";
  struct Row {
    std::string head, line, id, mended;
  };
  for (const Row& row : {
           Row{slurm, "srun torchrun --nproc_per_node=2 t.py > a", "torchrun-separate-runs",
               "srun " + on_slurm + " --nproc_per_node=2 t.py > a"},
           Row{slurm, "srun torchrun --nnodes 1 --standalone \\\n  t.py 'a b'", "torchrun-separate-runs",
               "srun " + on_slurm + " t.py 'a b'"},
           Row{slurm, "srun torchrun --rdzv_endpoint=localhost:0 --nnodes=1:1 t.py", "torchrun-separate-runs",
               "srun " + on_slurm + " t.py"},
           Row{slurm, "srun torchrun --master_addr n1 t.py", "torchrun-separate-runs",
               "srun torchrun --nnodes \"$SLURM_NNODES\" --master_addr n1 t.py"},
           Row{slurm, "cd a && torchrun t.py", "torchrun-on-first-host",
               "cd a && srun --ntasks=2 --ntasks-per-node=1 " + on_slurm + " t.py"},
           Row{pbs, "torchrun t.py", "torchrun-on-first-host", by_mpirun + on_pbs + " t.py"},
           Row{pbs, "mpirun -n 2 -npernode 1 torchrun t.py", "torchrun-separate-runs",
               "mpirun -n 2 -npernode 1 " + on_pbs + " t.py"},
           Row{pbs, "mpirun -n 8 torchrun t.py", "torchrun-separate-runs", by_mpirun + on_pbs + " t.py"},
           Row{pbs, "pbsdsh -u -- torchrun t.py", "torchrun-separate-runs",
               "pbsdsh -u -- " + on_pbs + " t.py"},
       }) {
    CAPTURE(row.line);
    std::string mended;
    for (const Finding& finding : lint(row.head + row.line + "\n"))
      if (finding.id == row.id) mended = finding.hint;
    CHECK(mended == row.mended);
    for (const Finding& finding : lint(row.head + mended + "\n"))
      CHECK_FALSE(finding.id.starts_with("torchrun"));
  }
  // One host of several, or a launcher that replaces torchrun.
  for (const char* line : {"srun -N 1 -n 1 torchrun --standalone t.py", "ddlrun launch 2x2 -- torchrun t.py",
                           "export PET_NNODES=2\nsrun torchrun t.py"})
    for (const Finding& finding : lint(slurm + line + "\n")) CHECK_FALSE(finding.id.starts_with("torchrun"));
  CHECK_FALSE(has(lint("P #PBS -l select=2:ncpus=4:mpiprocs=4 -l place=scatter\nmpirun -n 2 torchrun t.py\n"),
                  "ranks-mismatch"));
}

TEST_CASE("dims against the job: what the job lacks is named") {
  struct Row {
    const char *text, *hint;
  };
  for (const Row& row : {
           Row{"S #SBATCH -N 2 --ntasks-per-node=1\nddlrun launch 2x2 -- a\n",
               "#SBATCH --ntasks-per-node=2; or ddlrun launch --launcher srun"},
           Row{"S #SBATCH -N 2\nddlrun launch 2x2 -- a\n",
               "#SBATCH --ntasks-per-node=2; or ddlrun launch --launcher srun"},
           Row{"S #SBATCH -N 2 --ntasks-per-node=2\nddlrun launch 2x4 -- a\n",
               "#SBATCH --nodes=4 --ntasks-per-node=2"},
           Row{"S #SBATCH -N 2 --ntasks-per-node=2\nddlrun launch --launcher srun 2x4 -- a\n",
               "#SBATCH --nodes=4 --ntasks-per-node=2"},
           Row{"S #SBATCH -N 2 --ntasks-per-node=4\nddlrun launch 4x1 -- a\n",
               "#SBATCH --nodes=1 --ntasks-per-node=4; or dims 4x2"},
           Row{"P #PBS -l select=2:ncpus=4:mpiprocs=2:ompthreads=1 -l place=scatter\nddlrun launch 4x2 -- "
               "a\n",
               "mpiprocs=4"},
           // What runs: no finding.
           Row{"S #SBATCH -N 2 --ntasks-per-node=1\nddlrun launch --launcher srun 2x2 -- a\n", ""},
           Row{"S #SBATCH -N 2 --ntasks-per-node=1\nddlrun launch --launcher=ssh 2x2 -- a\n", ""},
           Row{"S #SBATCH -N 2 --exclusive\nddlrun launch 2x2 -- a\n", ""},
           Row{"S #SBATCH -N 2 --ntasks-per-node=2\nddlrun launch 2x2 -- a\n", ""},
       }) {
    CAPTURE(row.text);
    std::string hint;
    for (const Finding& finding : lint(row.text))
      if (finding.id == "ranks-mismatch") hint = finding.hint;
    CHECK(hint == row.hint);
  }
}

TEST_CASE("compact has one verdict in scripts that know the same of the node") {
  const std::string lines =
      "export KMP_AFFINITY=granularity=fine,compact\nexport OMP_NUM_THREADS=2\n/bin/a\n";
  for (const char* head : {"P #PBS -l select=2:ncpus=4:mpiprocs=2:ompthreads=2\n",
                           "P #PBS -l select=2:ncpus=4:mpiprocs=2:ompthreads=2 -l place=scatter\n",
                           "P #PBS -l select=2:ncpus=4:mpiprocs=2:ompthreads=2 -l place=scatter:excl\n",
                           "S #SBATCH --nodes=2 --ntasks-per-node=2 --cpus-per-task=2\n",
                           "S #SBATCH --nodes=2 --ntasks-per-node=2 --cpus-per-task=2 --exclusive\n"}) {
    CAPTURE(head);
    std::string verdict;
    for (const Finding& finding : lint(head + lines))
      if (finding.id == "kmp-compact") verdict = name_of(finding.severity);
    CHECK(verdict == "note");
    LintContext context;
    context.machine = {1, 32, 2};
    const auto script = parse_job_script(unfold_example(head + lines), "f");
    const auto known = lint_script(script, context);
    CHECK(has(known, "kmp-compact"));
    CHECK(needs_attention(known));
    context.machine = {1, 32, 1};
    CHECK_FALSE(has(lint_script(script, context), "kmp-compact"));
  }
  const std::string explained = explain_rule("kmp-compact");
  for (const char* words : {"A note if that is not known", "--smt", "KMP_HW_SUBSET=1t"})
    CHECK(explained.find(words) != std::string::npos);
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
  CHECK(hints == std::set<std::string>{"ompthreads=34, and remove the export"});
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
       "of Intel MPI, whose module is loaded", "no change, if"},
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
      "mpirun -n 1 a & child=$!\nwhile kill -0 \"$child\"; do wait \"$child\"; done\n"};
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
  site.defaults.push_back({"queue", {}});
  site.defaults.back().value.text = "normal";
  CHECK(ids("#!/bin/sh\n#PBS -A caffe -l walltime=2:00:00\n") == std::set<std::string>{"site-walltime"});
  CHECK(ids("#!/bin/sh\n#SBATCH -n 1\n") == std::set<std::string>{"site-scheduler"});
}

TEST_CASE("a report of thousands of one kind is short") {
  std::string text = unfold_example("P true\n");
  for (int i = 0; i < 5000; ++i) text += "cd $PBS_O_WORKDIR\n";
  CHECK(lint(text).size() <= 60);
}

TEST_CASE("the remedy for blanks in a value is the line without them") {
  struct Row {
    const char* written;
    const char* hint;
  };
  for (const Row& row :
       {Row{"S #SBATCH --nodes = 4", "#SBATCH --nodes=4"}, Row{"S #SBATCH --nodes= 4", "#SBATCH --nodes=4"},
        Row{"S #SBATCH --nodes =4", "#SBATCH --nodes=4"}, Row{"S #SBATCH -n = 4", "#SBATCH -n 4"},
        Row{"S #SBATCH --ntasks-per-node= 4", "#SBATCH --ntasks-per-node=4"},
        Row{"S #SBATCH --mem=64 GB", "#SBATCH --mem=64G"}, Row{"S #SBATCH --mem=64 m", "#SBATCH --mem=64M"},
        Row{"S #SBATCH --mem = 64 GB", "#SBATCH --mem=64G"}, Row{"S #SBATCH -A my lab", "#SBATCH -A my_lab"},
        Row{"S #SBATCH --gres = gpu:2, nvme", "#SBATCH --gres=gpu:2,nvme"},
        Row{"P #PBS -l select = 2:ncpus=4", "#PBS -l select=2:ncpus=4"},
        Row{"P #PBS -l mem=64 GB", "#PBS -l mem=64GB"}, Row{"P #PBS -N a b", "#PBS -N a_b"}}) {
    CAPTURE(std::string(row.written));
    const auto findings = lint(std::string(row.written) + "\n");
    std::vector<std::string> errors;
    for (const Finding& finding : findings)
      if (finding.severity == Severity::error) errors.push_back(finding.hint);
    CHECK(ddlrun::join(errors, " | ") == row.hint);
    CHECK_FALSE(has(findings, "bare-memory"));
  }
}

TEST_SUITE_END();
