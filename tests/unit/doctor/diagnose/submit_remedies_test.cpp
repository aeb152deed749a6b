// SPDX-License-Identifier: MIT
#include "doctor/diagnose/submit_remedies.hpp"

#include "doctor/diagnose/signatures_yaml.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <vector>

using namespace ddlrun::diagnose;
using Texts = std::vector<std::string>;

TEST_SUITE_BEGIN("doctor/diagnose/submit_remedies");

TEST_CASE("of a job of submit the remedies are options of submit") {
  const char* rows[][2] = {
      {"ddlrun launch --stall-timeout 60 --on-stall end ...   # ends it",
       "ddlrun submit --stall-timeout 60 --on-stall end ...   # ends it"},
      {"NCCL_DEBUG=INFO, or ddlrun launch --verify ...", "NCCL_DEBUG=INFO, or ddlrun submit --verify ..."},
      {"ddlrun launch --rankfile FILE.rf -- PROGRAM", "ddlrun launch --rankfile FILE.rf -- PROGRAM"},
      {"more memory for the job (--mem, -l mem=), fewer ranks per host, a smaller batch",
       "more memory for the job (--memory), fewer ranks per host, a smaller batch"},
      {"more memory from the scheduler (--mem, -l mem=), or fewer ranks per host",
       "more memory for the job (--memory), or fewer ranks per host"},
      {"qsub -l walltime=HH:MM:SS ...   # more", "ddlrun submit --walltime HH:MM:SS ...   # more"},
      {"sbatch --time=HH:MM:SS ...", "ddlrun submit --walltime HH:MM:SS ..."},
      {"sbatch --mem=... ; or fewer tasks per node",
       "ddlrun submit --memory SIZE ...; or fewer tasks per node"},
      {"srun --gpus-per-node=4 ...   # or --gres=gpu:4: request GPUs",
       "ddlrun submit --gpus 4 ...   # request GPUs"},
      {"srun --gpus-per-node=4 --gpu-bind=none ...", "srun --gpus-per-node=4 --gpu-bind=none ..."},
      {"srun --exclude=n2 ...   # without that host",
       "directives: ['--exclude=n2']   # in ddlrun.yaml; without that host"},
      {"module load; mpirun -x LD_LIBRARY_PATH ...   # x",
       "module load; ddlrun submit --environment LD_LIBRARY_PATH ...   # x"},
      {"mpirun --mca pml ob1 --mca btl tcp,self ...",
       "ddlrun submit --environment OMPI_MCA_pml=ob1 --environment OMPI_MCA_btl=tcp,self ..."},
      {"mpirun --bind-to none ...", "mpirun --bind-to none ..."},
  };
  for (const auto& [remedy, fitted] : rows) {
    CAPTURE(remedy);
    CHECK(as_submit_remedies(remedy, LogSource::slurm, "ddlrun submit") == Texts{fitted});
  }
  // PBS does not read directives of Slurm. In a job that srun starts, options of launch need --runner ddlrun.
  CHECK(as_submit_remedies("srun --exclude=n2 ...", LogSource::pbs, "ddlrun submit") ==
        Texts{"srun --exclude=n2 ..."});
  CHECK(as_submit_remedies("ddlrun launch --verify ...", LogSource::slurm, "ddlrun submit --runner ddlrun") ==
        Texts{"ddlrun submit --runner ddlrun --verify ..."});
}

TEST_CASE("a line of ddlrun.yaml is a remedy for itself: no command stands behind its comment") {
  const std::string directive = "directives: ['--exclude=n2']   # in ddlrun.yaml";
  const std::pair<const char*, Texts> rows[] = {
      {"sbatch --exclude=n2 ...; sudo dmesg -T | tail   # on n2",
       {directive, "sudo dmesg -T | tail   # on n2"}},
      {"sbatch --exclude=n2 ...; or mpirun inside the allocation",
       {directive, "mpirun inside the allocation"}},
      {"start the job again; srun --exclude=n2 ... if it returns",
       {"start the job again", directive + "; if it returns"}},
      {"sbatch --exclude=n2   # the node that never contributes",
       {directive + "; the node that never contributes"}},
  };
  for (const auto& [remedy, fitted] : rows) {
    CAPTURE(remedy);
    CHECK(as_submit_remedies(remedy, LogSource::slurm, "ddlrun submit") == fitted);
  }
  for (const Signature& signature : builtin_signatures()->signatures)
    for (const std::string& remedy : signature.remedies)
      for (const std::string& text : as_submit_remedies(remedy, LogSource::slurm, "ddlrun submit")) {
        CAPTURE(text);
        const std::size_t comment = text.find("   # ");
        CHECK((comment == std::string::npos || text.find("   # ", comment + 1) == std::string::npos));
        CHECK((remedy.starts_with("or ") || !text.starts_with("or ")));
      }
}

TEST_CASE(
    "no remedy for memory, time or a stall in a job of submit is an option of a scheduler or of launch") {
  const std::regex foreign(
      R"(\(--mem[=),]|-l walltime=HH|sbatch --(time|mem|signal|requeue|chdir)=?|ddlrun launch --(stall|on-stall|verify|rank-output|framework) )");
  std::size_t changed = 0;
  for (const Signature& signature : builtin_signatures()->signatures) {
    for (const std::string& remedy : signature.remedies) {
      const Texts all = as_submit_remedies(remedy, LogSource::slurm, "ddlrun submit");
      CAPTURE(signature.id);
      for (const std::string& fitted : all) {
        CAPTURE(fitted);
        CHECK_FALSE(std::regex_search(fitted, foreign));
      }
      changed += all == Texts{remedy} ? 0 : 1;
    }
  }
  CHECK(changed > 100);
}

TEST_CASE("the program stands for PROGRAM, with what interprets it where it runs") {
  struct Row {
    std::vector<std::string> program;
    std::string remedy, named;
  };
  const std::vector<std::string> script{"python3", "-u", "train.py", "--lr", "1"},
      binary{"./my prog", "-n", "4"};
  for (const Row& row : {
           Row{script, "PROGRAM --help   # then correct it",
               "python3 -u train.py --help   # then correct it"},
           Row{binary, "PROGRAM --help", "'./my prog' --help"},
           Row{script, "NCCL_DEBUG=INFO PROGRAM   # first", "NCCL_DEBUG=INFO python3 -u train.py   # first"},
           Row{script, "FI_PROVIDER=tcp PROGRAM", "FI_PROVIDER=tcp python3 -u train.py"},
           Row{script, "python3 PROGRAM --cfg job", "python3 train.py --cfg job"},
           Row{script, "ldd PROGRAM | grep mpi", "ldd $(command -v python3) | grep mpi"},
           Row{binary, "ldd PROGRAM | grep mpi", "ldd './my prog' | grep mpi"},
           Row{script, "md5sum PROGRAM   # on every host", "md5sum train.py   # on every host"},
           Row{script, "source(\"PROGRAM.R\")", "source(\"PROGRAM.R\")"},
           Row{{"python3", "-c", "1"}, "PROGRAM --help", "PROGRAM --help"},
           Row{{"python3", "-m", "pkg.train", "-x"}, "PROGRAM --help", "python3 -m pkg.train --help"},
           Row{{}, "PROGRAM --help", "PROGRAM --help"},
           Row{script, "torchrun --standalone PROGRAM   # one host",
               "torchrun --standalone train.py   # one host"},
           Row{{"python3", "-m", "pkg.train"},
               "A; torchrun --standalone PROGRAM",
               "A; torchrun --standalone -m pkg.train"},
           Row{{"./train.py"}, "torchrun --standalone PROGRAM", "torchrun --standalone ./train.py"},
           Row{binary, "torchrun --standalone PROGRAM", "torchrun --standalone --no_python './my prog'"},
           Row{script, "torchrun --help; PROGRAM", "torchrun --help; python3 -u train.py"},
       }) {
    CAPTURE(row.remedy);
    CHECK(name_program(row.remedy, row.program) == row.named);
  }
}

TEST_CASE("torchrun gets the numbers of the job") {
  const std::string remedy = "torchrun --nnodes=NODES --nproc_per_node=RANKS PROGRAM";
  CHECK(name_shape(remedy, 2, 1) == "torchrun --nnodes=2 --nproc_per_node=1 PROGRAM");
  CHECK(name_shape(remedy, 0, 0) == remedy);
  // No signature has numbers of its own in these places.
  for (const Signature& signature : builtin_signatures()->signatures)
    for (const std::string& text : signature.remedies)
      CHECK_FALSE(std::regex_search(text, std::regex("torchrun .*--(nnodes|nproc[-_]per[-_]node)[= ][0-9]")));
}

TEST_CASE("no comment of an option of launch names submit, which takes its place in a job") {
  for (const Signature& signature : builtin_signatures()->signatures)
    for (const std::string& text : signature.remedies) {
      CAPTURE(text);
      CHECK_FALSE(std::regex_search(text, std::regex("ddlrun launch --.*   # .*submit")));
    }
}

TEST_CASE("a run that ends at a stall is not advised to do so") {
  CHECK(without_stall_advice("ddlrun launch --stall-timeout 60 --on-stall end ...   # ends it").empty());
  CHECK(without_stall_advice("A=1, or ddlrun launch --stall-timeout 60 --on-stall end ...   # why") == "A=1");
  CHECK(without_stall_advice("gdb -p PID") == "gdb -p PID");
}

TEST_SUITE_END();
