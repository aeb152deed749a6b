// SPDX-License-Identifier: MIT
// Which launcher is taken, where programs answer from a table.
#include "launch/plan/select_launcher.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace ddlrun;
using launch::LauncherKind;

namespace {

const std::string open_mpi = "mpirun (Open MPI) 4.1.4\n";
const std::string mpich = "HYDRA build details:\n    Version:   4.0.2\n";
const std::string slurm = "slurm-wlm 22.05.8\n";

struct Installed {
  tests::FakeProcesses processes;
  tests::FakeFiles files;
  tests::FakeClock clock;
  Environment environment;
  System system{processes, files, clock, environment, [](std::string_view) {}, [](std::string_view) {}};

  explicit Installed(std::map<std::string, std::string> programs) {
    processes.answer = [programs = std::move(programs)](const Command& command) {
      ProcessResult result;
      const auto found = programs.find(command[0]);
      if (found == programs.end())
        result.start_error = "No such file or directory";
      else
        result.out = found->second;
      return result;
    };
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/plan/select_launcher");

TEST_CASE("the launcher that is named, else what mpirun is, else srun in a job of Slurm's, else ssh") {
  struct Row {
    std::map<std::string, std::string> installed;  // name: what --version says
    std::string launcher, mpirun;
    bool job;             // of Slurm's
    std::string started;  // "": refused with `kind`
    ErrorKind kind = ErrorKind::request;
  };
  const std::map<std::string, std::string> both{{"mpirun", open_mpi}, {"mpirun.mpich", mpich}};
  for (const Row& row : {
           Row{both, "auto", "mpirun", false, "mpirun"},
           Row{both, "mpich", "mpirun", false, "mpirun.mpich"},
           Row{{{"mpirun", mpich}}, "auto", "mpirun", false, "mpirun"},
           Row{{{"mpirun", mpich}}, "openmpi", "mpirun", false, ""},
           Row{{{"mpirun", mpich}, {"mpirun.openmpi", open_mpi}},
               "openmpi",
               "mpirun",
               false,
               "mpirun.openmpi"},
           Row{both, "auto", "/opt/mpirun", false, ""},
           Row{both, "openmpi", "mpirun.mpich", false, ""},
           Row{{{"srun", slurm}}, "auto", "mpirun", true, "srun"},
           Row{{{"srun", slurm}}, "auto", "mpirun", false, "ssh"},
           Row{{}, "auto", "mpirun", true, "ssh"},
           Row{both, "ssh", "mpirun", false, "ssh"},
           Row{{{"srun", slurm}, {"mpirun", open_mpi}}, "auto", "mpirun", true, "mpirun"},
           Row{{{"srun", slurm}, {"mpirun", open_mpi}}, "srun", "mpirun", true, "srun"},
           Row{{{"srun", slurm}}, "srun", "mpirun", false, "", ErrorKind::usage},
       }) {
    CAPTURE(row.launcher);
    CAPTURE(row.mpirun);
    Installed here(row.installed);
    if (row.job) here.environment.variables["SLURM_JOB_ID"] = "7";
    launch::LauncherSpec spec;
    if (row.launcher != "auto") spec.kind = launch::parse_launcher(row.launcher).value();
    spec.mpirun = row.mpirun;
    std::string started;
    try {
      started = launch::select_launcher(here.system, spec).program;
    } catch (const Error& error) {
      CHECK(error.kind() == row.kind);
    }
    CHECK(started == row.started);
  }
}

TEST_CASE("what --mpirun names and --launcher asks for") {
  struct Row {
    std::string launcher, mpirun, what, where, hint;
    ErrorKind kind;
  };
  const std::string theirs = "mpirun.openmpi (OpenRTE) 4.1.4\n";  // Debian's, by that name
  for (const Row& row :
       {Row{"mpich", "mpirun.openmpi",
            "--mpirun mpirun.openmpi is Open MPI 4.1.4, and --launcher mpich requests MPICH",
            "--mpirun and --launcher", "--launcher openmpi, or --launcher mpich without --mpirun",
            ErrorKind::request},
        Row{"openmpi", "mpirun.mpich",
            "--mpirun mpirun.mpich is MPICH 4.0.2, and --launcher openmpi requests Open MPI",
            "--mpirun and --launcher", "--launcher mpich, or --launcher openmpi without --mpirun",
            ErrorKind::request},
        Row{"mpich", "/bin/true", "it is no launcher that ddlrun knows: it says \"true (GNU coreutils) 9.1\"",
            "/bin/true --version", "apt-get install openmpi-bin; or name another with --mpirun FILE",
            ErrorKind::request},
        Row{"ssh", "mpirun.mpich",
            "--mpirun mpirun.mpich is not run: --launcher ssh starts the ranks itself, without MPI",
            "--launcher ssh", "--launcher ssh alone; or --mpirun alone, to start them with MPI",
            ErrorKind::usage}}) {
    CAPTURE(row.what);
    Installed here(
        {{"mpirun.openmpi", theirs}, {"mpirun.mpich", mpich}, {"/bin/true", "true (GNU coreutils) 9.1\n"}});
    launch::LauncherSpec spec;
    if (row.launcher != "auto") spec.kind = launch::parse_launcher(row.launcher).value();
    spec.mpirun = row.mpirun;
    try {
      launch::select_launcher(here.system, spec);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == row.kind);
      CHECK(error.message() == Message{row.what, row.where, row.hint});
    }
  }
  // Where mpirun is another's, Open MPI's is found by its other name, by which it calls itself OpenRTE.
  Installed beside({{"mpirun", mpich}, {"mpirun.openmpi", theirs}});
  launch::LauncherSpec spec;
  spec.kind = LauncherKind::open_mpi;
  CHECK(launch::select_launcher(beside.system, spec).program == "mpirun.openmpi");
}

TEST_CASE("srun starts nothing outside the allocation") {
  Installed here({});
  here.environment.variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-2]"}};
  CHECK_NOTHROW(launch::check_srun_hosts(here.system, {"n2", "n1"}));
  CHECK_THROWS_AS(launch::check_srun_hosts(here.system, {"n1", "n3"}), Error);
}

TEST_CASE("only --launcher ssh needs ssh in a Slurm job, and what a user selects: a plm, a bootstrap") {
  using topology::HostPath;
  launch::LauncherWords plain, by_mca, by_word, unrelated;
  by_mca.mca = {{"plm", "rsh"}};
  by_word.mpi_arguments = {"--prtemca", "plm", "ssh"};
  unrelated.mca = {{"plm", "slurm"}, {"plm_rsh_agent", "ssh"}};
  const auto path = [](LauncherKind kind, const launch::LauncherWords& words, const EnvVars& variables = {}) {
    return launch::find_host_path(kind, words, variables);
  };
  CHECK(path(LauncherKind::open_mpi, plain) == HostPath::automatic);
  CHECK(path(LauncherKind::srun, plain) == HostPath::automatic);
  CHECK(path(LauncherKind::open_mpi, unrelated) == HostPath::automatic);
  CHECK(path(LauncherKind::open_mpi, by_mca) == HostPath::ssh);
  CHECK(path(LauncherKind::open_mpi, by_word) == HostPath::ssh);
  CHECK(path(LauncherKind::ssh, plain) == HostPath::ssh);
  for (const LauncherKind kind : {LauncherKind::mpich, LauncherKind::intel_mpi}) {
    CHECK(path(kind, plain) == HostPath::automatic);
    for (const auto& [words, expected] : std::vector<std::pair<Command, HostPath>>{
             {{"-launcher", "ssh"}, HostPath::ssh},
             {{"-bootstrap=rsh"}, HostPath::ssh},
             {{"--bootstrap", "slurm"}, HostPath::automatic},
             {{"-rmk", "pbs"}, HostPath::ssh},
             {{"-bootstrap-exec", "/usr/bin/ssh"}, HostPath::ssh},
             {{"-launcher", "slurm", "-launcher-exec", "/opt/srun"}, HostPath::automatic},
             {{"-verbose"}, HostPath::automatic}}) {
      launch::LauncherWords asked;
      asked.mpi_arguments = words;
      CHECK(path(kind, asked) == expected);
    }
    CHECK(path(kind, plain, {{"HYDRA_BOOTSTRAP", "ssh"}}) == HostPath::ssh);
  }
  CHECK(path(LauncherKind::intel_mpi, plain, {{"I_MPI_HYDRA_BOOTSTRAP", "rsh"}}) == HostPath::ssh);
  CHECK(path(LauncherKind::mpich, plain, {{"I_MPI_HYDRA_BOOTSTRAP", "rsh"}}) == HostPath::automatic);
  CHECK(path(LauncherKind::mpich, plain, {{"HYDRA_LAUNCHER", "ssh"}}) == HostPath::ssh);
}

TEST_SUITE_END();
