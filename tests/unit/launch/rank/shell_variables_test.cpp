// SPDX-License-Identifier: MIT
#include "launch/rank/shell_variables.hpp"

#include "launch/plan/shell_environment.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

const EnvVars at_login{{"PATH", "/bin"}, {"HOME", "/home/ada"}, {"TERM", "xterm"}};
const ShellStart shell{at_login, "export LAMMPS_POTENTIALS=/usr/share/lammps XCRASH=1\nsetenv MSI2LMP /x\n"};

EnvVars with(EnvVars more) {
  more.insert(at_login.begin(), at_login.end());
  return more;
}

}  // namespace

TEST_SUITE_BEGIN("launch/rank/shell_variables");

TEST_CASE("what is true of all hosts reaches them; a login, a job and a secret do not") {
  struct Row {
    const char* name;
    VariableReach reach;
  };
  const Row rows[] = {
      {"CRASH", VariableReach::all_hosts},          {"PYTHONPATH", VariableReach::all_hosts},
      {"CUDA_HOME", VariableReach::all_hosts},      {"HF_HOME", VariableReach::all_hosts},
      {"HF_TOKEN", VariableReach::by_name},         {"CUDA_VISIBLE_DEVICES", VariableReach::by_name},
      {"TMPDIR", VariableReach::by_name},           {"HOME", VariableReach::this_host},
      {"SSH_CONNECTION", VariableReach::this_host}, {"SLURM_PROCID", VariableReach::this_host},
      {"PBS_NODEFILE", VariableReach::this_host},   {"OMPI_COMM_WORLD_RANK", VariableReach::this_host},
      {"BASH_FUNC_ml%%", VariableReach::this_host}};
  for (const Row& row : rows) {
    CAPTURE(std::string(row.name));
    CHECK(find_reach(row.name) == row.reach);
  }
  CHECK(select_passed({{"A", "1"}, {"HOME", "/h"}, {"TMPDIR", "/t"}, {"HF_TOKEN", "x"}}, {"TMPDIR"}) ==
        EnvVars{{"A", "1"}, {"TMPDIR", "/t"}});
}

TEST_CASE("mpirun passes only exported names: those that the user set for this command are named") {
  using enum EnvironmentPassing;
  const EnvVars own = with({{"CRASH", "2"},
                            {"FOO", "1"},
                            {"PYTHONPATH", "lib"},
                            {"NCCL_DEBUG", "INFO"},
                            {"LOADEDMODULES", "gcc"},
                            {"LAMMPS_POTENTIALS", "/usr/share/lammps"},
                            {"MSI2LMP", "/x"},
                            {"GCC_HOME", "/sw/gcc"},
                            {"SHLVL", "2"}});
  CHECK(find_unpassed(own, shell, {"PATH", "FOO"}, exported_names) ==
        std::vector<std::string>{"CRASH", "PYTHONPATH"});
  CHECK(find_unpassed(own, {}, {}, exported_names).empty());
  ShellStart before{own, ""};
  CHECK(find_unpassed(own, before, {}, exported_names).empty());
  before.environment->at("CRASH") = "1";
  CHECK(find_unpassed(own, before, {}, exported_names) == std::vector<std::string>{"CRASH"});
}

TEST_CASE("ssh passes the rest too: only secrets and what belongs to this host are named") {
  using enum EnvironmentPassing;
  const EnvVars own =
      with({{"CRASH", "2"}, {"HF_TOKEN", "x"}, {"CUDA_VISIBLE_DEVICES", "1"}, {"SHLVL", "2"}});
  CHECK(find_unpassed(own, shell, {}, selected) ==
        std::vector<std::string>{"CUDA_VISIBLE_DEVICES", "HF_TOKEN"});
  CHECK(find_unpassed(own, {own, ""}, {}, selected) == std::vector<std::string>{"HF_TOKEN"});
  CHECK(find_unpassed(own, shell, {"HF_TOKEN", "CUDA_VISIBLE_DEVICES"}, selected).empty());
}

TEST_CASE("the note names at most three variables") {
  CHECK(render_unpassed({}, "n1").empty());
  CHECK(render_unpassed({"CRASH"}, "n1") ==
        "CRASH reaches only the ranks on n1: -x CRASH passes it to all ranks");
  CHECK(render_unpassed({"A", "B", "C", "D", "E"}, "") ==
        "A, B, C and 2 more reach no rank: -x A -x B -x C passes them to all ranks");
}

TEST_CASE("the shell's own variables are found behind programs such as timeout") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  CHECK_FALSE(read_shell_start(system).environment.has_value());
  const auto stat = [](const char* process, int parent) {
    return fmt::format("{} S {} 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 99\n", process, parent);
  };
  fake.files.files["/proc/self/stat"] = stat("42 (ddlrun)", 41);
  fake.files.files["/proc/41/stat"] = stat("41 (timeout)", 40);
  fake.files.files["/proc/40/stat"] = stat("40 (bash)", 1);
  CHECK_FALSE(read_shell_start(system).environment.has_value());  // of another user
  fake.files.files["/proc/40/environ"] = std::string("A=1\0B=x=y\0C=\0", 12);
  fake.environment.variables["HOME"] = "/home/ada";
  fake.files.files["/home/ada/.bashrc"] = "export D=1";
  CHECK(read_shell_start(system).environment == EnvVars{{"A", "1"}, {"B", "x=y"}, {"C", ""}});
  CHECK(read_shell_start(system).login_files == "export D=1\n");
  fake.files.files["/proc/41/stat"] = stat("41 (timeout)", 0);
  CHECK_FALSE(read_shell_start(system).environment.has_value());
}

TEST_SUITE_END();
