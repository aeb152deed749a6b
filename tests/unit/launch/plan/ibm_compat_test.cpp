// SPDX-License-Identifier: MIT
// The lines are those published for IBM's ddlrun: its documentation and users' scripts.
#include "launch/plan/ibm_compat.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using launch::translate_ibm_command;

namespace {

const std::vector<std::string> some_commands{"topo", "launch", "doctor"};

std::string translated(const Command& words, const EnvVars& environment = {}, bool first_is_program = false) {
  const auto line = translate_ibm_command(words, some_commands, first_is_program, environment);
  return line ? render_shell(line->words) : "not theirs";
}

const std::string nccl = " --export-default NCCL_LL_THRESHOLD=0 --export-default NCCL_TREE_THRESHOLD=0";

}  // namespace

TEST_SUITE_BEGIN("launch/plan/ibm_compat");

TEST_CASE("IBM's lines become lines of launch") {
  struct Row {
    Command words;
    std::string line;
  };
  const std::vector<Row> rows{
      {{"-H", "host1,host2", "python", "mnist-env.py"},
       "launch -H host1,host2" + nccl + " --framework ddl --ddl-mode p -- python mnist-env.py"},
      {{"--nodes", "18", "--racks", "4", "--aisles", "2", "./prog"},
       "launch --hosts-per-rack 18 --racks 4 --aisles 2" + nccl + " --framework ddl --ddl-mode p -- ./prog"},
      {{"-x", "WORLD_SIZE=16", "-accelerators", "6", "python", "t.py", "-x", "1"},
       "launch -x WORLD_SIZE=16 --ranks-per-host 6" + nccl +
           " --framework ddl --ddl-mode p -- python t.py -x 1"},
      {{"--tcp", "--H", "cap", "--accelerators", "4", "python", "t.py"},
       "launch --mca pml ob1 --mca btl tcp,self,vader -H cap --ranks-per-host 4" + nccl +
           " --framework ddl --ddl-mode p -- python t.py"},
      {{"-t", "--accelerators=4", "-m", "b", "python", "t.py"},
       "launch --mca pml ob1 --mca btl tcp,self,vader --ranks-per-host 4" + nccl +
           " --framework ddl --ddl-mode b -- python t.py"},
      {{"-mpiarg", "-mca btl_tcp_if_include 'ib0 '", "--ddlarg", "-dump_iter 100", "./prog"},
       "launch --mpi-arg=-mca --mpi-arg=btl_tcp_if_include '--mpi-arg=ib0 '" + nccl +
           " --framework ddl --ddl-mode p '--ddl-arg=-dump_iter 100' -- ./prog"},
      {{"-mpiarg", "-bind-to none -x A", "./prog"},
       "launch --bind-to none --mpi-arg=-x --mpi-arg=A" + nccl + " --framework ddl --ddl-mode p -- ./prog"},
      {{"-no_ddloptions", "-rf", "my.rf", "-v", "./prog"},
       "launch --rankfile my.rf -v" + nccl + " --framework none -- ./prog"},
      {{"-H", "h1,h2", "--dry-run", "--allow-run-as-root", "-m", "b", "./prog"},
       "launch -H h1,h2 --dry-run --allow-run-as-root" + nccl + " --framework ddl --ddl-mode b -- ./prog"},
      {{"-m", "b", "--", "-odd", "name"}, "launch" + nccl + " --framework ddl --ddl-mode b -- -odd name"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    CHECK(translated(row.words) == row.line);
  }
}

TEST_CASE("a plain program is IBM's form too, and the batch system's variables travel") {
  CHECK(translated({"python", "t.py"}, {}, true) ==
        "launch" + nccl + " --framework ddl --ddl-mode p -- python t.py");
  CHECK(translated({"-m", "b", "./p"},
                   {{"LSB_JOBID", "7"}, {"PYTHONPATH", "/p"}, {"NCCL_LL_THRESHOLD", "9"}}) ==
        "launch -x LSB_JOBID -x PYTHONPATH" + nccl +
            " --framework ddl "
            "--ddl-mode b -- ./p");
}

// `-gpu` and `-disable_gdr` are in IBM's "Spectrum MPI user's guide"; mpirun of Open MPI refuses them.
TEST_CASE("options of Spectrum MPI are dropped and named") {
  struct Row {
    Command words;
    std::vector<std::string> dropped;
    std::string kept;
  };
  const std::vector<Row> rows{
      {{"--mpiarg", "-disable_gdr -gpu", "./p"}, {"-disable_gdr", "-gpu"}, ""},
      {{"-mpiarg", "-gpu", "-mpiarg", "--gpu -gpu", "./p"}, {"-gpu", "--gpu"}, ""},
      {{"-disable_gdr", "./p", "-gpu", "0"}, {"-disable_gdr"}, ""},
      {{"-H", "h1", "--disable_gdr", "-gpu", "./p"}, {"--disable_gdr", "-gpu"}, " -H h1"},
      {{"-mpiarg", "-mca plm_rsh_num_concurrent 300 -gpu --mca btl tcp,self", "./p"},
       {"plm_rsh_num_concurrent", "-gpu"},
       " --mpi-arg=--mca --mpi-arg=btl --mpi-arg=tcp,self"},
      {{"-mpiarg=--mca plm_rsh_num_concurrent 300", "./p"}, {"plm_rsh_num_concurrent"}, ""},
      {{"-mpiarg", "-mca plm_rsh_agent ssh -x gpu", "./p"},
       {},
       " --mpi-arg=-mca --mpi-arg=plm_rsh_agent --mpi-arg=ssh --mpi-arg=-x --mpi-arg=gpu"},
  };
  for (const Row& row : rows) {
    CAPTURE(render_shell(row.words));
    const auto found = translate_ibm_command(row.words, some_commands, false, {});
    REQUIRE(found);
    CHECK(found->dropped == row.dropped);
    const std::string line = render_shell(found->words);
    CHECK(line.substr(0, line.find(nccl)) == "launch" + row.kept);
  }
}

TEST_CASE("our own lines stay ours") {
  const std::vector<Command> rows{{},
                                  {"launch", "2"},
                                  {"-v", "launch", "2"},
                                  {"-v"},
                                  {"--dry-run"},
                                  {"--dry-run", "launch"},
                                  {"-H", "h1", "topo"}};
  for (const Command& words : rows) {
    CAPTURE(render_shell(words));
    CHECK(translated(words) == "not theirs");
  }
}

TEST_CASE("what IBM's form cannot mean is refused with something to type") {
  struct Row {
    Command words;
    std::string what;
  };
  const std::vector<Row> rows{{{"-H"}, "-H lacks its value"},
                              {{"-H", "h1"}, "no program follows the options"},
                              {{"-H", "h1", "--"}, "no program follows the options"},
                              {{"-H", "h1", "-np", "4", "./p"}, "unknown option '-np' of IBM's ddlrun"},
                              {{"-mpiarg", "-mca 'x", "./p"}, "a quotation mark is not closed"}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    std::string what, hint;
    try {
      translated(row.words);
    } catch (const Error& error) {
      what = error.message().what;
      hint = error.message().hint;
    }
    CHECK(what == row.what);
    CHECK(!hint.empty());
  }
}

TEST_SUITE_END();
