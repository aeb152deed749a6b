// SPDX-License-Identifier: MIT
#include "launch/launchers/open_mpi.hpp"

#include "base/text/error.hpp"
#include "launch/launchers/launch_command.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using launch::LaunchRequest;
using launch::parse_mpirun_version;
using launch::plan_launch_command;
using launch::plan_rank_command;

namespace {

LaunchRequest request(int major) {
  LaunchRequest request;
  request.launcher.version.major = major;
  request.ranks = 2;
  request.rankfile = "/s/run/rankfile";
  request.exports = launch::plan_exports({{"KEY=s3cret"}, 1, 1}, {{"PATH", "/bin"}});
  request.words.mca = {{"btl_tcp_if_include", "10.0.0.0/8"}};
  request.words.mpi_arguments = {"--report-bindings"};
  request.words.tag_output = true;
  request.program = {{"./prog", "a b"}, "/opt/ddlrun", ""};
  return request;
}

}  // namespace

TEST_SUITE_BEGIN("launch/launchers/open_mpi");

TEST_CASE("versions as the mpiruns print them") {
  CHECK(parse_mpirun_version(
            "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n") ==
        launch::MpirunVersion{4, 1, "4.1.4"});
  CHECK(parse_mpirun_version("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org") ==
        launch::MpirunVersion{4, 1, "4.1.4"});
  CHECK(parse_mpirun_version("mpirun (Open MPI) 5.0.3\n") == launch::MpirunVersion{5, 0, "5.0.3"});
  CHECK(parse_mpirun_version("mpirun (Open MPI) 5.1.0a1\n") == launch::MpirunVersion{5, 1, "5.1.0a1"});
  for (const char* other :
       {"HYDRA build details:\n    Version: 4.0.2\n", "", "mpirun (Open MPI) \n",
        "mpirun (Open MPI) 1.10.7\n", "Intel(R) MPI Library for Linux* OS, Version 2021.9\n"}) {
    CAPTURE(other);
    CHECK_THROWS_AS(parse_mpirun_version(other), Error);
  }
}

TEST_CASE("the line of Open MPI 4") {
  const auto line = plan_launch_command(request(4));
  CHECK(line.argv == Command{"mpirun",
                             "-n",
                             "2",
                             "--rankfile",
                             "/s/run/rankfile",
                             "-x",
                             "PATH",
                             "-x",
                             "CUDA_DEVICE_ORDER",
                             "-x",
                             "OMP_NUM_THREADS",
                             "-x",
                             "KEY",
                             "--mca",
                             "btl_tcp_if_include",
                             "10.0.0.0/8",
                             "--tag-output",
                             "--report-bindings",
                             "./prog",
                             "a b"});
  CHECK(line.environment ==
        EnvVars{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"KEY", "s3cret"}, {"OMP_NUM_THREADS", "1"}});
}

TEST_CASE("the line of Open MPI 5 opens the rankfile, as PRRTE refuses a path with '-' or ':'") {
  LaunchRequest five = request(5);
  for (const char* path :
       {"/s/run/rankfile", "/home/a-b/20261123-162716-mrm2U9/rankfile", "/s/a:b, c/rankfile"}) {
    CAPTURE(path);
    five.rankfile = path;
    const Command argv = plan_launch_command(five).argv;
    const Command head(argv.begin(), argv.begin() + 9);
    CHECK(head == Command{"/bin/sh", "-c", "exec \"$@\" 9< \"$0\"", path, "mpirun", "-n", "2", "--map-by",
                          "rankfile:file=/dev/fd/9"});
    CHECK(std::find(argv.begin(), argv.end(), "--tag-output") == argv.end());
  }
}

TEST_CASE("Open MPI 5 gets the hosts by --host, unless Slurm or the user names them") {
  const auto hosts_of = [](const LaunchRequest& request, const EnvVars& environment = {}) {
    const Command argv = plan_launch_command(request, environment).argv;
    const auto found = std::find(argv.begin(), argv.end(), "--host");
    return found == argv.end() ? std::string() : *(found + 1);
  };
  LaunchRequest asked = request(5);
  CHECK(hosts_of(asked) == "");  // all ranks on this host
  asked.ranks_of_hosts = {{"node1", 4}, {"node2", 2}};
  CHECK(hosts_of(asked) == "node1:4,node2:2");
  CHECK(hosts_of(asked, {{"SLURM_JOB_ID", "7"}}) == "");
  asked.words.mpi_arguments = {"--hostfile", "hosts"};
  CHECK(hosts_of(asked) == "");
  LaunchRequest four = request(4);
  four.ranks_of_hosts = asked.ranks_of_hosts;
  CHECK(hosts_of(four) == "");  // takes them from the rankfile
}

TEST_CASE("Open MPI 5 keeps no part of a line, unless the user chooses its output") {
  const auto output_of = [](const LaunchRequest& request) {
    const Command argv = plan_launch_command(request).argv;
    const auto found = std::find(argv.begin(), argv.end(), "--output");
    return found == argv.end() ? std::string() : *(found + 1);
  };
  LaunchRequest asked = request(5);
  CHECK(output_of(asked) == "tag:raw");
  asked.words.tag_output = false;
  CHECK(output_of(asked) == ":raw");
  asked.words.mpi_arguments = {"--output", "rank"};
  CHECK(output_of(asked) == "rank");
  CHECK(output_of(request(4)) == "");
}

TEST_CASE("Open MPI 5 uses IPv4 only and starts ranks one by one, unless the user chooses") {
  for (const std::string name : {"btl_tcp_disable_family", "odls_base_max_threads"}) {
    const auto times = [&](const LaunchRequest& request, const EnvVars& environment = {}) {
      const Command argv = plan_launch_command(request, environment).argv;
      return std::count(argv.begin(), argv.end(), name);
    };
    LaunchRequest asked = request(5);
    CHECK(times(asked) == 1);
    CHECK(times(asked, {{"OMPI_MCA_" + name, "0"}}) == 0);
    asked.words.mca.emplace_back(name, "0");
    CHECK(times(asked) == 1);
    CHECK(times(request(4)) == 0);
  }
}

TEST_CASE("Open MPI 5 places more ranks than this host has cores only with :oversubscribe") {
  LaunchRequest asked = request(5);
  asked.shares_cores = true;
  const Command argv = plan_launch_command(asked).argv;
  CHECK(std::find(argv.begin(), argv.end(), "rankfile:file=/dev/fd/9:oversubscribe") != argv.end());
}

// mpirun 4.1.4 in a job of Slurm with one task, by a rankfile of four ranks: "There are not enough slots
// available", but with --oversubscribe it starts them.
TEST_CASE("Open MPI 4 gets --oversubscribe for ranks that share the cores of a Slurm job") {
  const auto has = [](const LaunchRequest& asked, const EnvVars& environment) {
    const Command argv = plan_launch_command(asked, environment).argv;
    return std::ranges::count(argv, "--oversubscribe") == 1;
  };
  LaunchRequest asked = request(4);
  CHECK_FALSE(has(asked, {{"SLURM_JOB_ID", "7"}}));
  asked.shares_cores = true;
  CHECK(has(asked, {{"SLURM_JOB_ID", "7"}}));
  CHECK_FALSE(has(asked, {}));  // there it takes the slots from the rankfile
  asked.launcher.version.major = 5;
  CHECK_FALSE(has(asked, {{"SLURM_JOB_ID", "7"}}));
}

TEST_CASE("every word before the program has a reason, and values of the user's are nowhere") {
  for (const int major : {4, 5}) {
    CAPTURE(major);
    const LaunchRequest asked = request(major);
    const auto line = plan_launch_command(asked);
    std::string reasons, words;
    for (const auto& reason : line.reasons) {
      CHECK_FALSE(reason.why.empty());
      reasons += " " + reason.subject;
    }
    for (std::size_t i = 0; i + 2 < line.argv.size(); ++i) {
      if (line.argv[i] != asked.launcher.program) words += " " + line.argv[i];
    }
    CHECK(reasons == words);
    CHECK(words.find("s3cret") == std::string::npos);
    CHECK(launch::render_launch_command(line, asked.exports).find("s3cret") == std::string::npos);
  }
}

TEST_CASE("a program is started directly unless it must report or holds a word \":\"") {
  CHECK(plan_rank_command({{"p", "a:b"}, "/d", ""}) == Command{"p", "a:b"});
  CHECK(plan_rank_command({{"p", "x"}, "/d", "tok"}) ==
        Command{"/d", "exec", "--report-placement", "tok", "--", "p", "x"});
  const Command program{"p", ":", "%colon%", "::", ":"};
  const Command wrapped = plan_rank_command({program, "/d", ""});
  CHECK(std::count(wrapped.begin(), wrapped.end(), ":") == 0);
  const auto dashes = std::find(wrapped.begin(), wrapped.end(), "--");
  CHECK(launch::restore_colons({dashes + 1, wrapped.end()}, wrapped[3]) == program);
}

TEST_CASE("below /tmp, a host checks who owns ddlrun before a rank executes it") {
  launch::RankProgram program{{"p"}, "/tmp/d", "tok"};
  program.checks_ddlrun = true;
  const Command guarded = plan_rank_command(program);
  CHECK(Command(guarded.begin(), guarded.begin() + 2) == Command{"/bin/sh", "-c"});
  CHECK(guarded[2].find("trusted \"$0\" && exec") != std::string::npos);
  CHECK(Command(guarded.begin() + 3, guarded.end()) ==
        Command{"/tmp/d", "exec", "--report-placement", "tok", "--", "p"});
  program.placement_token.clear();
  program.keep = program.may_lack_ddlrun = true;  // then the program starts without ddlrun
  const Command supervised = plan_rank_command(program);
  CHECK(supervised[2].find("trusted \"$0\" && exec") != std::string::npos);
  CHECK(supervised[2].ends_with("exec \"$@\""));
  program.stderr_token = "tok";  // stderr is framed only where ddlrun is
  const Command framed = plan_rank_command(program);
  CHECK(framed[2].ends_with("exec \"$@\""));
  const auto frames = std::find(framed.begin(), framed.end(), "--frame-stderr");
  REQUIRE(frames != framed.end());
  CHECK(frames[1] == "tok");
}

TEST_CASE("settings that notice a lost host, unless the user has chosen") {
  struct Row {
    const char* what;
    int major;
    std::vector<std::pair<std::string, std::string>> mca;
    EnvVars environment;
    std::vector<std::string> there, absent;
  };
  const std::string ssh = "-o ServerAliveInterval=5 -o ServerAliveCountMax=6";
  const std::vector<Row> rows{
      {"nothing chosen",
       4,
       {},
       {},
       {"oob_tcp_keepalive_time", "oob_tcp_keepalive_probes", ssh, "plm_rsh_args"},
       {}},
      {"Open MPI 5", 5, {}, {}, {"--prtemca", "oob_tcp_keepalive_time", "plm_ssh_args"}, {}},
      {"by --mca", 4, {{"oob_tcp_keepalive_time", "600"}}, {}, {"oob_tcp_keepalive_intvl", "600"}, {"10"}},
      {"by the environment",
       4,
       {},
       {{"OMPI_MCA_oob_tcp_keepalive_time", "600"}},
       {},
       {"oob_tcp_keepalive_time"}},
      {"another ssh", 4, {{"plm_rsh_agent", "rsh"}}, {}, {"oob_tcp_keepalive_time"}, {"plm_rsh_args"}},
      {"options for ssh", 4, {{"plm_rsh_args", "-4"}}, {}, {"-4"}, {ssh}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    LaunchRequest asked = request(row.major);
    asked.words.mca = row.mca;
    const Command here = plan_launch_command(asked, row.environment).argv;
    CHECK(std::count(here.begin(), here.end(), ssh) == 0);
    asked.keepalives = true;
    const Command argv = plan_launch_command(asked, row.environment).argv;
    for (const std::string& word : row.there) CHECK(std::count(argv.begin(), argv.end(), word) >= 1);
    for (const std::string& word : row.absent) CHECK(std::count(argv.begin(), argv.end(), word) == 0);
  }
}

TEST_CASE("the network of the daemons has another name in Open MPI 6") {
  for (const int major : {4, 5, 6}) {
    LaunchRequest asked = request(major);
    asked.chosen_mca = {{"btl_tcp_if_include", "10.9.1.0/24", "why"},
                        {"oob_tcp_if_include", "10.9.1.0/24", "why"}};
    const Command argv = plan_launch_command(asked, {}).argv;
    CHECK(std::ranges::count(argv, "oob_tcp_if_include") == (major < 6 ? 1 : 0));
    CHECK(std::ranges::count(argv, "prte_if_include") == (major < 6 ? 0 : 1));
  }
}

TEST_CASE("what a rank executes with a keeper") {
  launch::RankProgram program{{"./prog", "a b"}, "/opt/ddlrun", ""};
  program.keep = true;
  CHECK(plan_rank_command(program) == Command{"/opt/ddlrun", "exec", "--supervise", "--", "./prog", "a b"});
  program.status_token = "T";
  program.stall_after = 60;
  CHECK(plan_rank_command(program) == Command{"/opt/ddlrun", "exec", "--supervise", "--monitor", "T",
                                              "--stall-timeout", "60", "--", "./prog", "a b"});
  program.may_lack_ddlrun = true;  // then a shell looks for it first
  const Command shell = plan_rank_command(program);
  CHECK(shell[0] == "/bin/sh");
  CHECK(Command(shell.begin() + 3, shell.end()) == Command{"/opt/ddlrun", "exec", "--supervise", "--monitor",
                                                           "T", "--stall-timeout", "60", "--", "./prog",
                                                           "a b"});
  program.rank_map = {"--rank-map"};
  program.needs_rank_map = false;  // the numbers of the ranks alone do not need it
  CHECK(plan_rank_command(program)[0] == "/bin/sh");
  program.needs_rank_map = true;
  CHECK(plan_rank_command(program)[0] == "/opt/ddlrun");
  program.needs_rank_map = false;
  program.placement_token = "R";  // who requests places needs ddlrun
  CHECK(plan_rank_command(program)[0] == "/opt/ddlrun");
}

TEST_CASE("a signal that stands for TERM is requested where keepers make it of that") {
  struct Row {
    const char* what;
    int major, minor;
    bool keeper, own;
    bool forwards, asked;
  };
  for (const Row& row : {Row{"Open MPI 4.1", 4, 1, true, false, true, true},
                         Row{"before it could", 4, 0, true, false, false, false},
                         Row{"PRRTE forwards it unasked", 5, 0, true, false, true, false},
                         Row{"no keepers", 4, 1, false, false, false, false},
                         Row{"no keepers", 5, 0, false, false, false, false},
                         Row{"the user's own", 4, 1, true, true, false, false}}) {
    CAPTURE(row.what);
    LaunchRequest asked = request(row.major);
    asked.launcher.version.minor = row.minor;
    if (row.keeper) asked.program.status_token = "t";
    if (row.own) asked.words.mca.emplace_back("ess_base_forward_signals", "SIGALRM");
    const auto line = plan_launch_command(asked);
    CHECK(line.forwards_end == row.forwards);
    CHECK((std::find(line.argv.begin(), line.argv.end(), "SIGURG") != line.argv.end()) == row.asked);
  }
}

TEST_SUITE_END();
