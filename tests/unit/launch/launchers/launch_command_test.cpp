// SPDX-License-Identifier: MIT
// Launchers by what they say, and their lines.
#include "launch/launchers/launch_command.hpp"

#include "base/text/error.hpp"
#include "launch/launchers/hydra.hpp"
#include "launch/launchers/srun.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using launch::LaunchCommand;
using launch::LauncherKind;
using launch::LauncherVersion;
using launch::LaunchRequest;
using launch::parse_launcher_version;
using launch::ProgramMpi;
using Words = std::vector<std::string>;

namespace {

launch::RankMap two_by_two(bool interleaved) {
  launch::RankMap rank_map;
  rank_map.kinds = {{launch::RankBinding{{0}, 0, -1, "", ""}, launch::RankBinding{{1}, 0, -1, "", ""}}};
  if (interleaved)
    rank_map.hosts = {{"h1", 0, {0, 2}}, {"h2", 0, {1, 3}}};
  else
    rank_map.hosts = {{"h1", 0, {0, 1}}, {"h2", 0, {2, 3}}};
  launch::RankGroup group;
  group.ranks = 4;
  rank_map.groups = {group};
  rank_map.bind = true;
  return rank_map;
}

LaunchRequest ask(LauncherKind kind, bool interleaved = true) {
  LaunchRequest request;
  request.launcher.version.kind = kind;
  request.launcher.program = kind == LauncherKind::srun ? "srun" : "mpiexec";
  request.launcher.version.major = 22;
  request.launcher.version.minor = 5;
  request.ranks = 4;
  request.run_dir = "/run";
  request.exports = launch::plan_exports({{"KEY=s3cret"}, 1, 1}, {{"PATH", "/bin"}});
  request.rank_map = two_by_two(interleaved);
  request.program = {{"./prog", "a b"}, "/opt/ddlrun", ""};
  return request;
}

bool has_word(const LaunchCommand& line, const std::string& word) {
  return std::find(line.argv.begin(), line.argv.end(), word) != line.argv.end();
}

const std::string& file_text(const LaunchCommand& line, const std::string& path) {
  const auto found =
      std::find_if(line.files.begin(), line.files.end(), [&](const auto& file) { return file.path == path; });
  REQUIRE(found != line.files.end());
  return found->text;
}

}  // namespace

TEST_SUITE_BEGIN("launch/launchers/launch_command");

TEST_CASE("versions as the launchers print them") {
  CHECK(parse_launcher_version("HYDRA build details:\n    Version:                                 4.0.2\n"
                               "    Release Date:  Thu Apr  7 12:34:45 CDT 2022\n") ==
        LauncherVersion{LauncherKind::mpich, 4, 0, "4.0.2"});
  CHECK(parse_launcher_version(
            "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307 (id: d82b3071db)\n"
            "Copyright 2003-2023, Intel Corporation.\n") ==
        LauncherVersion{LauncherKind::intel_mpi, 2021, 9, "2021.9"});
  CHECK(parse_launcher_version("slurm 22.05.8\n") == LauncherVersion{LauncherKind::srun, 22, 5, "22.05.8"});
  CHECK(parse_launcher_version("slurm-wlm 22.05.8\n") ==
        LauncherVersion{LauncherKind::srun, 22, 5, "22.05.8"});
  CHECK(parse_launcher_version("mpirun (Open MPI) 4.1.4\n") ==
        LauncherVersion{LauncherKind::open_mpi, 4, 1, "4.1.4"});
  CHECK_THROWS_AS(parse_launcher_version("mpirun (Open MPI) 1.10.7\n"), Error);
  CHECK_THROWS_AS(parse_launcher_version(""), Error);
  for (const char* name : {"openmpi", "mpich", "intelmpi", "srun", "ssh"})
    CHECK(launch::name_of(launch::parse_launcher(name).value()) == name);
  CHECK(!launch::parse_launcher("auto"));
}

// A host that the file has twice counts as two: MPICH's ranks then share no memory.
TEST_CASE("hydra: each host once in its file where the ranks go over the hosts in rounds") {
  launch::RankMap rank_map = two_by_two(true);
  const auto file = [&](std::vector<launch::RankMapHost> hosts) {
    rank_map.hosts = std::move(hosts);
    rank_map.groups[0].ranks = 0;
    for (const auto& host : rank_map.hosts)
      rank_map.groups[0].ranks += static_cast<std::uint32_t>(host.ranks.size());
    return launch::render_machine_file(rank_map);
  };
  CHECK(file({{"h1", 0, {0, 2, 4}}, {"h2", 0, {1, 3, 5}}}) == "h1:1\nh2:1\n");
  CHECK(file({{"h1", 0, {0, 1, 4, 5}}, {"h2", 0, {2, 3, 6, 7}}}) == "h1:2\nh2:2\n");
  CHECK(file({{"h1", 0, {0, 3}}, {"h2", 0, {1, 4}}, {"h3", 0, {2}}}) == "h1:1\nh2:1\nh3:1\n");
  CHECK(file({{"h1", 0, {0, 1, 4}}, {"h2", 0, {2, 3}}}) == "h1:2\nh2:2\n");
  CHECK(file({{"h1", 0, {0, 3}}, {"h2", 0, {1, 2}}}) == "h1:1\nh2:2\n");
  CHECK(file({{"h1", 0, {0, 1}}, {"h2", 0, {2}}, {"h3", 0, {3, 4}}}) == "h1:2\nh2:1\nh3:2\n");
  CHECK(file({{"h1", 0, {0, 1, 2}}}) == "h1:3\n");
  // In no rounds: hydra has no other way to say it.
  CHECK(file({{"h1", 0, {0, 3, 4}}, {"h2", 0, {1, 2}}}) == "h1:1\nh2:2\nh1:2\n");
  CHECK(file({{"h1", 0, {0, 2}}, {"h2", 0, {1, 3, 4}}}) == "h1:1\nh2:1\nh1:1\nh2:2\n");
}

TEST_CASE("hydra in a Slurm job: its proxies are a step of the job, unless the user selects another way") {
  const auto plan = [](LauncherKind kind, const EnvVars& variables, const Command& words = {}) {
    LaunchRequest request = ask(kind);
    request.has_step = request.keepalives = true;
    request.words.mpi_arguments = words;
    return launch::plan_launch_command(request, variables);
  };
  const auto starts = [](const LaunchCommand& line, const Command& words) {
    return std::equal(words.begin(), words.end(), line.argv.begin());
  };
  const LaunchCommand step = plan(LauncherKind::mpich, {{"SLURM_JOB_ID", "7"}, {"SLURM_CPUS_PER_TASK", "1"}});
  CHECK(starts(step, {"env", "-u", "SLURM_CPUS_PER_TASK", "mpiexec", "-launcher", "slurm", "-f"}));
  CHECK(step.environment.at("HYDRA_LAUNCHER_EXTRA_ARGS").starts_with("--overlap "));
  CHECK(step.connections == 0);  // srun is its only child
  const LaunchCommand intel = plan(LauncherKind::intel_mpi, {});
  CHECK(starts(intel, {"mpiexec", "-bootstrap", "slurm", "-machinefile"}));
  CHECK(intel.environment.at("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS").starts_with("--overlap "));
  const LaunchCommand by_word = plan(LauncherKind::mpich, {}, {"-launcher", "ssh"});
  CHECK(starts(by_word, {"mpiexec", "-f"}));
  CHECK(by_word.environment.at("HYDRA_LAUNCHER_EXTRA_ARGS").starts_with("-oServerAlive"));
  CHECK(by_word.connections == 2);
  const LaunchCommand by_starter = plan(LauncherKind::mpich, {}, {"-launcher-exec", "/usr/bin/ssh"});
  CHECK(starts(by_starter, {"mpiexec", "-launcher", "ssh", "-f"}));
  CHECK(by_starter.connections == 0);
  const LaunchCommand by_variable = plan(LauncherKind::intel_mpi, {{"I_MPI_HYDRA_BOOTSTRAP", "rsh"}});
  CHECK(starts(by_variable, {"mpiexec", "-machinefile"}));
  CHECK(by_variable.environment.count("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS") == 0);
}

TEST_CASE("hydra: hosts in rank order, consecutive ones folded; no value on the line") {
  CHECK(launch::render_machine_file(two_by_two(true)) == "h1:1\nh2:1\n");
  CHECK(launch::render_machine_file(two_by_two(false)) == "h1:2\nh2:2\n");
  const LaunchCommand line =
      launch::plan_launch_command(ask(LauncherKind::mpich), {{"MPIR_CVAR_DEBUG", "1"}});
  CHECK(line.argv == Command{"mpiexec", "-launcher", "ssh", "-f", "/run/hosts", "-n", "4", "-genvlist",
                             "PATH,CUDA_DEVICE_ORDER,OMP_NUM_THREADS,KEY,DDLRUN_RANKS,MPIR_CVAR_DEBUG",
                             "/opt/ddlrun", "exec", "--rank-map", "--", "./prog", "a b"});
  CHECK(file_text(line, "/run/hosts") == "h1:1\nh2:1\n");
  CHECK(line.environment.at("DDLRUN_RANKS") + "\n" == file_text(line, "/run/ranks.json"));
  CHECK(launch::parse_rank_map(line.environment.at("DDLRUN_RANKS")) == two_by_two(true));
  const std::string shown = launch::render_launch_command(line, ask(LauncherKind::mpich).exports);
  CHECK(shown.find("s3cret") == std::string::npos);
  CHECK(shown.find("DDLRUN_RANKS=\"$(cat /run/ranks.json)\"") != std::string::npos);
  LaunchRequest mca = ask(LauncherKind::mpich);
  mca.words.mca = {{"btl", "tcp"}};
  try {
    launch::plan_launch_command(mca);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);  // as over ssh
    CHECK(error.message().hint.starts_with("--launcher openmpi"));
  }
}

TEST_CASE(
    "Intel MPI: the machine file, since -f takes each host once; its own pinning off unless it is set") {
  LaunchRequest request = ask(LauncherKind::intel_mpi);
  request.keepalives = true;
  const LaunchCommand line = launch::plan_launch_command(request);
  CHECK(has_word(line, "-machinefile"));
  CHECK(line.own ==
        EnvVars{{"I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "-oServerAliveInterval=5 -oServerAliveCountMax=6"},
                {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT", "0"},
                {"I_MPI_PIN", "0"}});
  CHECK(has_word(line, "PATH,CUDA_DEVICE_ORDER,OMP_NUM_THREADS,KEY,DDLRUN_RANKS,I_MPI_PIN"));
  CHECK(launch::plan_launch_command(request, {{"I_MPI_PIN", "1"}}).own.count("I_MPI_PIN") == 0);
}

TEST_CASE("srun: one host a rank, nothing bound by Slurm, no count of CPUs") {
  LaunchRequest request = ask(LauncherKind::srun);
  request.pmi = "pmix";
  request.words.mca = {{"btl", "tcp,self"}};
  const LaunchCommand line =
      launch::plan_launch_command(request, {{"HOME", "/h"}, {"SRUN_CPUS_PER_TASK", "2"}});
  CHECK(line.argv == Command{"env",
                             "-u",
                             "SRUN_CPUS_PER_TASK",
                             "srun",
                             "-n",
                             "4",
                             "--distribution=arbitrary",
                             "--cpu-bind=none",
                             "--gpu-bind=none",
                             "--overlap",
                             "--kill-on-bad-exit=1",
                             "--input=0",
                             "--mpi=pmix",
                             "--export=ALL",
                             "/opt/ddlrun",
                             "exec",
                             "--rank-map",
                             "--",
                             "./prog",
                             "a b"});
  CHECK(file_text(line, "/run/hosts") == "h1\nh2\nh1\nh2\n");
  CHECK(line.own == EnvVars{{"OMPI_MCA_btl", "tcp,self"},
                            {"SLURM_HOSTFILE", "/run/hosts"},
                            {"SLURM_PMIX_FENCE", "ring"}});
  CHECK(launch::plan_launch_command(request, {{"SLURM_PMIX_FENCE", "tree"}}).own.count("SLURM_PMIX_FENCE") ==
        0);
  request.pmi = "pmi2";
  CHECK(launch::plan_launch_command(request).own.count("SLURM_PMIX_FENCE") == 0);
  request.launcher.version.major = 20;
  request.launcher.version.minor = 2;
  CHECK_FALSE(has_word(launch::plan_launch_command(request), "--overlap"));
}

TEST_CASE("srun: ranks that may share cores leave them while they wait, unless the user chooses") {
  LaunchRequest request = ask(LauncherKind::srun);
  const std::string name = "OMPI_MCA_mpi_yield_when_idle";
  CHECK(launch::plan_launch_command(request).own.count(name) == 0);
  CHECK_FALSE(has_word(launch::plan_launch_command(request), "--overcommit"));
  request.shares_cores = true;
  // srun(1): "--overcommit: Normally, srun will not allocate more than one process per CPU."
  CHECK(has_word(launch::plan_launch_command(request), "--overcommit"));
  CHECK(launch::plan_launch_command(request).own.at(name) == "1");
  CHECK(launch::plan_launch_command(request, {{name, "0"}}).own.count(name) == 0);
  request.words.mca = {{"mpi_yield_when_idle", "0"}};
  CHECK(launch::plan_launch_command(request).own.at(name) == "0");
}

TEST_CASE("a rank map that is longer than a variable may be travels as a file") {
  LaunchRequest request = ask(LauncherKind::mpich);
  request.rank_map->groups[0].arguments = {std::string(200'000, 'x')};
  const LaunchCommand line = launch::plan_launch_command(request);
  CHECK(line.environment.count("DDLRUN_RANKS") == 0);
  CHECK(line.rank_map_path.empty());
  CHECK(has_word(line, "--rank-map-file"));
  CHECK(has_word(line, "/run/ranks.json"));
  CHECK(file_text(line, "/run/ranks.json").size() > 200'000);
}

TEST_CASE("Open MPI gets a rank map only where there is one to be had") {
  LaunchRequest request = ask(LauncherKind::open_mpi);
  request.launcher.version.major = 4;
  request.rankfile = "/run/rankfile";
  request.program.may_lack_ddlrun = true;
  request.program.keep = true;
  const LaunchCommand line = launch::plan_launch_command(request);
  CHECK(has_word(line, "DDLRUN_RANKS"));
  CHECK_FALSE(has_word(line, "/bin/sh"));  // without ddlrun the program would miss what it is to get
  request.program.needs_rank_map = false;
  CHECK(has_word(launch::plan_launch_command(request), "DDLRUN_RANKS"));
  CHECK(has_word(launch::plan_launch_command(request), "/bin/sh"));  // it would miss its numbers alone
  request.rank_map->workdir = std::string(200'000, 'x');
  CHECK_FALSE(has_word(launch::plan_launch_command(request), "--rank-map-file"));
  request.rank_map.reset();
  CHECK_FALSE(has_word(launch::plan_launch_command(request), "DDLRUN_RANKS"));
}

TEST_CASE("the program's MPI, srun's choices and what does not go together") {
  CHECK(launch::mpi_of({"libc.so.6", "libmpi.so.40"}) == ProgramMpi::open_mpi);
  CHECK(launch::mpi_of({"libmpich.so.12"}) == ProgramMpi::mpich);  // Debian's name
  CHECK(launch::mpi_of({"libmpi.so.12", "libmpifort.so.12"}) == ProgramMpi::mpich);
  CHECK(launch::mpi_of({"libmpi.so.12", "libopen-pal.so.13"}) == ProgramMpi::open_mpi);  // 1.10
  CHECK(launch::mpi_of({"libc.so.6"}) == ProgramMpi::none);

  // Slurm 22.05 of Debian 12.
  const Words offered = launch::parse_pmi_list(
      "MPI plugin types are...\n\tnone\n\tpmi2\n\tcray_shasta\n\tpmix\nspecific pmix plugin versions "
      "available: "
      "pmix_v4\n");
  CHECK(offered == Words{"none", "pmi2", "cray_shasta", "pmix"});
  CHECK(launch::parse_pmi_list("srun: MPI types are...\nsrun: none\nsrun: pmi2\n") == Words{"none", "pmi2"});
  struct Row {
    ProgramMpi mpi;
    Words offered;
    std::string pmi;  // "!": refused
  };
  for (const Row& row :
       {Row{ProgramMpi::none, offered, "none"}, Row{ProgramMpi::open_mpi, offered, "pmix"},
        Row{ProgramMpi::mpich, offered, "pmi2"}, Row{ProgramMpi::unknown, offered, "pmix"},
        Row{ProgramMpi::unknown, {"none"}, ""}, Row{ProgramMpi::open_mpi, {"none", "pmi2"}, "!"},
        Row{ProgramMpi::open_mpi, {}, ""}}) {
    std::string found;
    try {
      found = launch::choose_pmi(row.mpi, row.offered);
    } catch (const Error&) {
      found = "!";
    }
    CHECK(found == row.pmi);
  }
  CHECK_THROWS_AS(launch::check_program_mpi(ProgramMpi::open_mpi, LauncherKind::mpich), Error);
  CHECK_THROWS_AS(launch::check_program_mpi(ProgramMpi::open_mpi, LauncherKind::intel_mpi), Error);
  CHECK_THROWS_AS(launch::check_program_mpi(ProgramMpi::mpich, LauncherKind::open_mpi), Error);
  CHECK_THROWS_AS(launch::check_program_mpi(ProgramMpi::open_mpi, LauncherKind::ssh), Error);
  const auto hint = [](bool has_mpirun) {
    try {
      launch::check_program_mpi(ProgramMpi::open_mpi, LauncherKind::ssh, has_mpirun);
    } catch (const Error& error) {
      return error.message().hint;
    }
    return std::string();
  };
  CHECK(hint(true) == "--launcher openmpi");
  CHECK(hint(false) == "--launcher openmpi (apt-get install openmpi-bin)");
  CHECK_NOTHROW(launch::check_program_mpi(ProgramMpi::none, LauncherKind::ssh));
  for (const auto kind : {LauncherKind::mpich, LauncherKind::intel_mpi, LauncherKind::srun})
    CHECK_NOTHROW(launch::check_program_mpi(ProgramMpi::mpich, kind));
  CHECK_NOTHROW(launch::check_program_mpi(ProgramMpi::unknown, LauncherKind::mpich));
}

TEST_SUITE_END();
