// SPDX-License-Identifier: MIT
// The command with fake interfaces: what ranks report while they run, stalls, signals.
#include "launch/rank/placement_line.hpp"
#include "launch/rank/status_line.hpp"
#include "tests/support/fake_launch.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::launch;
using tests::Launch;
using tests::word_after;

TEST_SUITE_BEGIN("cli/launch_watched");

TEST_CASE("a keeper stays with each rank, and its lines are taken out") {
  Launch launch;
  launch.processes.result.exit_status = 7;
  launch.processes.lines = [&](const Command& command) {
    const std::string token = word_after(command, "--monitor");
    return std::vector<std::string>{
        launch::render_status_line(token, {1, "here", launch::RankStatus::heartbeat, {}, 0, 0}), "loss 1\n",
        launch::render_status_line(token, {1, "here", launch::RankStatus::ended, {}, 7, 0})};
  };
  launch.run({"launch", "2", "--stall-timeout", "9", "--", "prog", "a b"});
  CHECK(launch.status == 7);
  const Command& line = launch.processes.ran[1];
  const auto exec = std::find(line.begin(), line.end(), "/opt/ddlrun/bin/ddlrun");
  REQUIRE(line.end() - exec == 13);
  CHECK(Command(exec + 1, exec + 5) == Command{"exec", "--rank-map", "--supervise", "--monitor"});
  CHECK(Command(exec + 6, exec + 8) == Command{"--stall-timeout", "9"});
  CHECK(Command(exec + 8, exec + 10) == Command{"--frame-stderr", exec[5]});
  CHECK(Command(exec + 10, line.end()) == Command{"--", "prog", "a b"});
  CHECK(launch.err.find("loss 1\n") != std::string::npos);
  CHECK(launch.err.find("ddlrun-rank") == std::string::npos);
  CHECK(launch.err.find("rank 1 on here failed first: it exited with status 7") != std::string::npos);
  CHECK(launch.file("run.json").find("\"first_failure\": {") != std::string::npos);
  CHECK(launch.file("run.json").find("\"exit_status\":7") != std::string::npos);
}

TEST_CASE("after a stall that ends the job, or a lost host, the noise of the ending is no cause") {
  const std::string noise = "WARNING: Open MPI failed to TCP connect to a peer MPI process via\n";
  struct Row {
    launch::RankStatus sign;
    std::string said;
    int status;
    bool diagnosed;
  };
  for (const Row& row :
       {Row{launch::RankStatus::stalled, "", 124, false},
        Row{launch::RankStatus::heartbeat, "ORTE has lost communication with a remote daemon.\n", 5, false},
        Row{launch::RankStatus::heartbeat, "", 1, true}}) {
    CAPTURE(row.status);
    Launch launch;
    launch.processes.result.exit_status = 1;
    launch.processes.meanwhile = [&](const Command& command, const RunHooks& hooks) {
      const std::string token = word_after(command, "--monitor");
      const launch::Stall stall{7, 'T', 1771, "p", ""};
      hooks.on_stderr_line(launch::render_status_line(token, {1, "here", row.sign, stall, 0, 0}));
      hooks.tick({});
      if (!row.said.empty()) hooks.on_stderr_line(row.said);
      hooks.on_stderr_line(noise);
    };
    launch.environment.stderr_is_terminal = true;
    launch.run({"launch", "2", "-q", "--stall-timeout", "5", "--on-stall", "end", "--", "prog"});
    CHECK(launch.status == row.status);
    CHECK((launch.err.find("ddlrun: the job is ended, as --on-stall end asks\n") != std::string::npos) ==
          (row.sign == launch::RankStatus::stalled));
    CHECK((launch.err.find("ddlrun: \x1b[33mwarning:\x1b[0m rank 1 on here has made no progress") !=
           std::string::npos) == (row.sign == launch::RankStatus::stalled));
    CHECK((launch.err.find("[D2]") != std::string::npos) == row.diagnosed);
    CHECK((launch.err.find("kill -CONT 1771\n") != std::string::npos) ==
          (row.sign == launch::RankStatus::stalled));
  }
}

TEST_CASE("ranks that wake because the job is ended do not go on") {
  for (const bool ends : {true, false}) {
    CAPTURE(ends);
    Launch launch;
    launch.processes.result.exit_status = 1;
    launch.processes.meanwhile = [&](const Command& command, const RunHooks& hooks) {
      const std::string token = word_after(command, "--monitor");
      const launch::Stall stall{7, 'T', 1771, "p", ""};
      hooks.on_stderr_line(
          launch::render_status_line(token, {1, "here", launch::RankStatus::stalled, stall, 0, 0}));
      hooks.tick({});
      hooks.on_stderr_line(
          launch::render_status_line(token, {1, "here", launch::RankStatus::resumed, stall, 0, 0}));
      hooks.tick({});
    };
    launch.run({"launch", "2", "--on-stall", ends ? "end" : "warn", "--", "prog"});
    CHECK((launch.err.find("goes on after") == std::string::npos) == ends);
  }
}

TEST_CASE("keepers are silent where their lines would end up elsewhere; odd options are refused") {
  struct Row {
    std::vector<std::string> options;
    bool keeps, watches;
    int status;
  };
  for (const Row& row :
       {Row{{}, true, true, 0}, Row{{"--stall-timeout", "0"}, true, true, 0},
        Row{{"--no-monitor"}, false, false, 0},
        Row{{"--mpi-arg", "--output-filename", "--mpi-arg", "logs"}, true, false, 0},
        Row{{"--mpi-arg", "--merge-stderr-to-stdout"}, true, false, 0},
        Row{{"--stall-timeout", "-1"}, false, false, 2}, Row{{"--stall-timeout", "1m"}, false, false, 2},
        Row{{"--on-stall", "die"}, false, false, 2},
        Row{{"--on-stall", "end", "--no-monitor"}, false, false, 2}}) {
    CAPTURE(row.options.size());
    Launch launch;
    std::vector<std::string> words{"launch", "2"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    words.insert(words.end(), {"--", "prog"});
    launch.run(words);
    CHECK(launch.status == row.status);
    if (row.status != 0) continue;
    const Command& line = launch.processes.ran[1];
    CHECK((std::find(line.begin(), line.end(), "--supervise") != line.end()) == row.keeps);
    CHECK((std::find(line.begin(), line.end(), "--monitor") != line.end()) == row.watches);
  }
}

TEST_CASE("options of srun that label or redirect output: no frames; stderr in a file: no status lines") {
  struct Row {
    std::vector<std::string> options;
    bool frames, watches;
  };
  for (const Row& row :
       {Row{{}, true, true}, Row{{"--mpi-arg=-u"}, true, true}, Row{{"--mpi-arg=-l"}, false, true},
        Row{{"--mpi-arg=-oFILE"}, false, false}, Row{{"--mpi-arg=-eFILE"}, false, false},
        Row{{"--mpi-arg=-o", "--mpi-arg=FILE"}, false, false},
        Row{{"--mpi-arg=--output=FILE"}, false, false}}) {
    CAPTURE(row.options.size());
    Launch launch;
    launch.environment.variables["SLURM_JOB_ID"] = "7";
    launch.processes.answer = [](const Command& command) {
      ProcessResult result;
      if (command[0] == "srun") result.out = "slurm 22.05.8\n";
      return result;
    };
    std::vector<std::string> words{"launch", "2", "--launcher", "srun"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    words.insert(words.end(), {"--", "prog"});
    launch.run(words);
    CAPTURE(launch.err);
    CHECK(launch.status == 0);
    const Command& line = launch.processes.ran.back();
    CHECK(line[0] == "srun");
    CHECK((std::find(line.begin(), line.end(), "--frame-stderr") != line.end()) == row.frames);
    CHECK((std::find(line.begin(), line.end(), "--monitor") != line.end()) == row.watches);
  }
}

TEST_CASE("reports are compared with the plan while the rest passes by") {
  struct Row {
    std::vector<int> second;  // where rank 1 says it is; planned on 2-3
    std::vector<std::string> extra;
    int status;
    std::string says;
  };
  for (const Row& row :
       {Row{{2, 3}, {"--verify"}, 0, "2 of 2 ranks are where they were planned"},
        Row{{1, 2, 3}, {"--verify"}, 0, "warning: 1 of 2 ranks are NOT where they were planned"},
        Row{{1, 2, 3}, {"--strict"}, 1, "error: 1 of 2 ranks are NOT where they were planned"},
        Row{{}, {"--strict"}, 1, "1 of 2 ranks never reported their place"}}) {
    CAPTURE(row.says);
    Launch launch;
    launch.processes.lines = [&](const Command& command) {
      const std::string token = word_after(command, "--report-placement");
      std::vector<std::string> lines{"loss 1\n", launch::render_placement_line(token, {0, 0, "here", {0, 1}}),
                                     "loss 2\n"};
      if (!row.second.empty())
        lines.push_back(launch::render_placement_line(token, {1, 1, "here", row.second}));
      return lines;
    };
    std::vector<std::string> words{"launch", "2"};
    words.insert(words.end(), row.extra.begin(), row.extra.end());
    words.insert(words.end(), {"--", "prog"});
    launch.run(words);
    CHECK(launch.status == row.status);
    CHECK(launch.err.find(row.says) != std::string::npos);
    CHECK(launch.err.find("loss 1\nloss 2\n") != std::string::npos);
    CHECK(launch.err.find("ddlrun-place") == std::string::npos);
  }
}

TEST_CASE("a signal that stopped mpirun is the status, unless the program had its own") {
  struct Row {
    int exit_status, forwarded_signal, status;
  };
  for (const Row& row :
       {Row{1, 15, 143}, Row{1, 2, 130}, Row{0, 15, 0}, Row{75, 15, 75}, Row{1, 10, 1}, Row{1, 0, 1}}) {
    CAPTURE(row.status);
    Launch launch;
    launch.processes.result.exit_status = row.exit_status;
    launch.processes.result.forwarded_signal = row.forwarded_signal;
    launch.run({"launch", "2", "--", "prog"});
    CHECK(launch.status == row.status);
  }
}

TEST_CASE("TERM goes to the ranks first, to mpirun where none has reported") {
  Launch launch;
  std::vector<int> given;
  launch.processes.meanwhile = [&](const Command& command, const RunHooks& hooks) {
    REQUIRE(hooks.on_signal);
    launch::RankReport alive;
    alive.host = "here";
    hooks.on_stderr_line(launch::render_status_line(word_after(command, "--monitor"), alive));
    for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) given.push_back(hooks.on_signal(signal, false));
  };
  launch.run({"launch", "1", "--", "prog"});
  CHECK(given == std::vector<int>{SIGUSR1, SIGURG, 0});
  Launch early;
  early.processes.meanwhile = [&](const Command&, const RunHooks& hooks) {
    CHECK(hooks.on_signal(SIGTERM, false) == SIGTERM);
  };
  early.run({"launch", "1", "--", "prog"});
  Launch alone;
  alone.processes.meanwhile = [&](const Command&, const RunHooks& hooks) { CHECK(!hooks.on_signal); };
  alone.run({"launch", "1", "--no-monitor", "--verify", "--", "prog"});
}

TEST_SUITE_END();
