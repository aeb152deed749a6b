// SPDX-License-Identifier: MIT
// The command with fake doors: what is run, with which environment, what is written, which status comes back.
#include "cli/app.hpp"
#include "launch/place_marker.hpp"
#include "launch/rank_marker.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <signal.h>

#include <algorithm>

using namespace ddlrun;

namespace {

// mpirun as it looks from here: a version, then a run whose stderr the test writes.
struct FakeMpirun : tests::FakeProcesses {
  EnvVars environment;
  bool watched = false;
  std::function<std::vector<std::string>(const Command&)> lines = [](const Command&) {
    return std::vector<std::string>{};
  };
  ProcessResult result;
  std::function<void(const Command&, const Attention&)> meanwhile;  // instead of `lines`

  FakeMpirun() {
    answer = [](const Command&) {
      ProcessResult version;
      version.out = "mpirun (Open MPI) 4.1.4\n";
      return version;
    };
  }
  ProcessResult run_guarded(const Command& command, const EnvVars& extra,
                            const Attention& attention) override {
    ran.push_back(command);
    environment = extra;
    watched = attention.err_lines != nullptr;
    if (meanwhile) {
      meanwhile(command, attention);
    } else if (watched) {
      for (const std::string& line : lines(command)) attention.err_lines(line);
    }
    return result;
  }
};

struct Launch {
  FakeMpirun processes;
  tests::FakeFiles files;
  tests::FakeClock clock;
  Environment environment;
  std::string out, err, program_err;
  int status = 0;

  Launch() {
    environment.host_name = "here";
    environment.own_names = {"here", "localhost"};
    environment.executable = "/opt/ddlrun/bin/ddlrun";
    environment.variables = {{"HOME", "/home/u"}, {"PATH", "/bin"}};
    files.files["/bin/prog"] = "";
  }
  // On one made-up machine of 4 cores.
  void run(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--sockets", "1", "--cores", "4"});
    System system{processes,
                  files,
                  clock,
                  environment,
                  [this](std::string_view text) { out += text; },
                  [this](std::string_view text) { err += text; }};
    status = cli::run_app(words, system);
  }
  const std::string& file(const std::string& name) {
    return files.files["/home/u/.local/state/ddlrun/runs/19700101-000000-000000/" + name];
  }
};

std::string word_after(const Command& command, const std::string& word) {
  const auto found = std::find(command.begin(), command.end(), word);
  return found == command.end() || found + 1 == command.end() ? "" : *(found + 1);
}

}  // namespace

TEST_CASE("launch writes the run folder, runs mpirun, gives its status") {
  Launch launch;
  launch.processes.result.exit_status = 7;
  launch.run({"launch", "2", "-x", "KEY=s3cret", "--no-watch", "--no-diagnose", "--", "prog", "a b"});
  CHECK(launch.status == 7);
  CHECK(launch.out.empty());
  REQUIRE(launch.processes.ran.size() == 2);
  CHECK(launch.processes.ran[0] == Command{"mpirun", "--version"});
  CHECK(launch.processes.ran[1] == Command{"mpirun",
                                           "-n",
                                           "2",
                                           "--rankfile",
                                           "/home/u/.local/state/ddlrun/runs/19700101-000000-000000/rankfile",
                                           "-x",
                                           "PATH",
                                           "-x",
                                           "CUDA_DEVICE_ORDER",
                                           "-x",
                                           "OMP_NUM_THREADS",
                                           "-x",
                                           "OMP_PLACES",
                                           "-x",
                                           "OMP_PROC_BIND",
                                           "-x",
                                           "MKL_NUM_THREADS",
                                           "-x",
                                           "KEY",
                                           "prog",
                                           "a b"});
  CHECK(launch.processes.environment == EnvVars{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                {"KEY", "s3cret"},
                                                {"MKL_NUM_THREADS", "2"},
                                                {"OMP_NUM_THREADS", "2"},
                                                {"OMP_PLACES", "cores"},
                                                {"OMP_PROC_BIND", "close"}});
  CHECK_FALSE(launch.processes.watched);
  CHECK(launch.file("rankfile").find("rank 1=here           slot=0:2-3\n") != std::string::npos);
  CHECK(launch.file("run.json").find("\"exit_status\": 7") != std::string::npos);
  for (const auto& [path, bytes] : launch.files.files) CHECK(bytes.find("s3cret") == std::string::npos);
  CHECK(launch.err.find("s3cret") == std::string::npos);
}

TEST_CASE("--threads and --affinity") {
  struct Row {
    std::vector<std::string> words;
    EnvVars set;  // beside CUDA_DEVICE_ORDER
    int status;
  };
  const std::string affine = "granularity=fine,compact,1,0";
  for (const Row& row :
       {Row{{"--affinity", "off"}, {{"OMP_NUM_THREADS", "2"}}, 0},
        Row{{"--affinity", "off", "--threads", "1"}, {{"OMP_NUM_THREADS", "1"}}, 0},
        Row{{"--affinity", "libomp", "--threads", "2"},
            {{"OMP_NUM_THREADS", "2"},
             {"MKL_NUM_THREADS", "2"},
             {"KMP_AFFINITY", affine},
             {"KMP_BLOCKTIME", "1"}},
            0},
        Row{{"--affinity", "libomp", "-x", "KMP_AFFINITY=scatter", "-x", "KMP_BLOCKTIME=5"},
            {{"OMP_NUM_THREADS", "2"},
             {"MKL_NUM_THREADS", "2"},
             {"KMP_AFFINITY", "scatter"},
             {"KMP_BLOCKTIME", "5"}},
            0},
        Row{{"--threads", "0"}, {}, 2}, Row{{"--threads", "4x"}, {}, 2}, Row{{"--affinity", "tight"}, {}, 2},
        Row{{"--threads", "2", "-x", "OMP_NUM_THREADS=1"}, {}, 2}}) {
    Launch launch;
    std::vector<std::string> words{"launch", "2", "--no-watch", "--no-diagnose"};
    words.insert(words.end(), row.words.begin(), row.words.end());
    words.insert(words.end(), {"--", "prog"});
    launch.run(words);
    CAPTURE(row.words.back());
    CAPTURE(launch.err);
    CHECK(launch.status == row.status);
    launch.processes.environment.erase("CUDA_DEVICE_ORDER");
    CHECK(launch.processes.environment == row.set);
  }
}

TEST_CASE("a keeper stays with each rank, and its lines are taken out") {
  Launch launch;
  launch.processes.result.exit_status = 7;
  launch.processes.lines = [&](const Command& command) {
    const std::string token = word_after(command, "--watch");
    return std::vector<std::string>{
        launch::render_rank_marker(token, {1, "here", launch::RankSign::alive, {}, 0, 0}), "loss 1\n",
        launch::render_rank_marker(token, {1, "here", launch::RankSign::ended, {}, 7, 0})};
  };
  launch.run({"launch", "2", "--stall-after", "9", "--", "prog", "a b"});
  CHECK(launch.status == 7);
  const Command& line = launch.processes.ran[1];
  const auto exec = std::find(line.begin(), line.end(), "/opt/ddlrun/bin/ddlrun");
  REQUIRE(line.end() - exec == 10);
  CHECK(Command(exec + 1, exec + 4) == Command{"exec", "--keep", "--watch"});
  CHECK(Command(exec + 5, line.end()) == Command{"--stall-after", "9", "--", "prog", "a b"});
  CHECK(launch.err.find("loss 1\n") != std::string::npos);
  CHECK(launch.err.find("ddlrun-rank") == std::string::npos);
  CHECK(launch.err.find("rank 1 on here failed first: it exited with status 7") != std::string::npos);
  CHECK(launch.file("run.json").find("\"first_failure\": {") != std::string::npos);
  CHECK(launch.file("run.json").find("\"exit_status\":7") != std::string::npos);
}

TEST_CASE("after a stall that ends the job, or a lost host, the noise of the ending is no cause") {
  const std::string noise = "WARNING: Open MPI failed to TCP connect to a peer MPI process via\n";
  struct Row {
    launch::RankSign sign;
    std::string said;
    int status;
    bool diagnosed;
  };
  for (const Row& row :
       {Row{launch::RankSign::stalled, "", 124, false},
        Row{launch::RankSign::alive, "ORTE has lost communication with a remote daemon.\n", 5, false},
        Row{launch::RankSign::alive, "", 1, true}}) {
    CAPTURE(row.status);
    Launch launch;
    launch.processes.result.exit_status = 1;
    launch.processes.meanwhile = [&](const Command& command, const Attention& attention) {
      const std::string token = word_after(command, "--watch");
      const launch::Stall stall{7, 'T', 1771, "p", ""};
      attention.err_lines(launch::render_rank_marker(token, {1, "here", row.sign, stall, 0, 0}));
      attention.tick({});
      if (!row.said.empty()) attention.err_lines(row.said);
      attention.err_lines(noise);
    };
    launch.run({"launch", "2", "--stall-after", "5", "--on-stall", "end", "--", "prog"});
    CHECK(launch.status == row.status);
    CHECK((launch.err.find("[D2]") != std::string::npos) == row.diagnosed);
    CHECK((launch.err.find("try: kill -CONT 1771\n") != std::string::npos) ==
          (row.sign == launch::RankSign::stalled));
  }
}

TEST_CASE("keepers are silent where their lines would end up elsewhere; odd options are refused") {
  struct Row {
    std::vector<std::string> options;
    bool keeps, watches;
    int status;
  };
  for (const Row& row :
       {Row{{}, true, true, 0}, Row{{"--stall-after", "0"}, true, true, 0},
        Row{{"--no-watch"}, false, false, 0},
        Row{{"--mpi-arg", "--output-filename", "--mpi-arg", "logs"}, true, false, 0},
        Row{{"--mpi-arg", "--merge-stderr-to-stdout"}, true, false, 0},
        Row{{"--stall-after", "-1"}, false, false, 2}, Row{{"--stall-after", "1m"}, false, false, 2},
        Row{{"--on-stall", "die"}, false, false, 2},
        Row{{"--on-stall", "end", "--no-watch"}, false, false, 2}}) {
    CAPTURE(row.options.size());
    Launch launch;
    std::vector<std::string> words{"launch", "2"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    words.insert(words.end(), {"--", "prog"});
    launch.run(words);
    CHECK(launch.status == row.status);
    if (row.status != 0) continue;
    const Command& line = launch.processes.ran[1];
    CHECK((std::find(line.begin(), line.end(), "--keep") != line.end()) == row.keeps);
    CHECK((std::find(line.begin(), line.end(), "--watch") != line.end()) == row.watches);
  }
}

TEST_CASE("a dry run writes nothing and starts nothing") {
  Launch launch;
  launch.run({"launch", "2", "--dry-run", "--", "prog"});
  CHECK(launch.status == 0);
  CHECK(launch.files.written.empty());
  CHECK(launch.processes.ran == std::vector<Command>{{"mpirun", "--version"}});
  CHECK(launch.out.find("mpirun -n 2 --rankfile ") != std::string::npos);
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
        Row{{}, {"--strict"}, 1, "1 of 2 ranks never told their place"}}) {
    CAPTURE(row.says);
    Launch launch;
    launch.processes.lines = [&](const Command& command) {
      const std::string token = word_after(command, "--report");
      std::vector<std::string> lines{"loss 1\n", launch::render_place_marker(token, {0, 0, "here", {0, 1}}),
                                     "loss 2\n"};
      if (!row.second.empty())
        lines.push_back(launch::render_place_marker(token, {1, 1, "here", row.second}));
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

TEST_CASE("the trainer is found beside the binary, gets the options and is verified") {
  Launch launch;
  launch.files.files["/opt/ddlrun/bin/ddl-train"] = "";
  launch.run({"launch", "2", "--", "--epochs", "3"});
  CHECK(launch.status == 0);
  const Command& ran = launch.processes.ran.back();
  const Command tail(ran.end() - 4, ran.end());
  CHECK(tail == Command{"--", "/opt/ddlrun/bin/ddl-train", "--epochs", "3"});
  CHECK(word_after(ran, "/opt/ddlrun/bin/ddlrun") == "exec");
  CHECK(launch.processes.watched);
}

TEST_CASE("a signal that stopped mpirun is the status, unless the program had its own") {
  struct Row {
    int exit_status, passed_on, status;
  };
  for (const Row& row :
       {Row{1, 15, 143}, Row{1, 2, 130}, Row{0, 15, 0}, Row{75, 15, 75}, Row{1, 10, 1}, Row{1, 0, 1}}) {
    CAPTURE(row.status);
    Launch launch;
    launch.processes.result.exit_status = row.exit_status;
    launch.processes.result.passed_on = row.passed_on;
    launch.run({"launch", "2", "--", "prog"});
    CHECK(launch.status == row.status);
  }
}

TEST_CASE("what cannot start is refused before anything is written") {
  struct Row {
    std::vector<std::string> words;
    int status;
    std::string says;
  };
  for (const Row& row : {Row{{"launch", "2", "--", "missing"}, 3, "the program 'missing' was not found"},
                         Row{{"launch", "5", "--", "prog"}, 3, "5 cores, there are 4"},
                         Row{{"launch", "2"}, 3, "the bundled trainer ddl-train was not found"},
                         Row{{"launch", "./prog"}, 2, "'./prog' is a program; programs go behind --"},
                         Row{{"launch", "2", "./prog"}, 2, "try: ddlrun launch 2 -- ./prog"},
                         Row{{"launch", "2", "-x", "NOPE", "--", "prog"}, 2, "NOPE is not set here"},
                         Row{{"launch", "2", "--verify", "--no-verify", "--", "prog"}, 2, "both given"},
                         Row{{"launch", "2", "--strict", "--no-verify", "--", "prog"}, 2, "--strict needs"},
                         Row{{"launch", "2", "--order", "dll", "--", "prog"}, 2, "--order ddl"},
                         Row{{"launch", "2", "--", ""}, 2, "the program's name is empty"}}) {
    CAPTURE(row.says);
    Launch launch;
    launch.run(row.words);
    CHECK(launch.status == row.status);
    CHECK(launch.err.find(row.says) != std::string::npos);
    CHECK(launch.files.written.empty());
    CHECK(launch.out.empty());
  }
}

TEST_CASE("dims for several hosts without names: inside an allocation they are its hosts") {
  struct Row {
    const char* name;
    const char* value;
    std::string says;
  };
  for (const Row& row :
       {Row{"SLURM_JOB_NODELIST", "node[1-3]", "1x2x1 needs 2 hosts (2 per rack x 1 racks), 3 given"},
        Row{"PBS_NODEFILE", "/var/spool/nodes", "1x2x1 needs 2 hosts (2 per rack x 1 racks), 3 given"},
        Row{"OTHER", "x", "1x2x1 needs 2 hosts"}}) {
    CAPTURE(row.name);
    Launch launch;
    launch.environment.variables[row.name] = row.value;
    launch.files.files["/var/spool/nodes"] = "p1\np1\np2\np2\np3\n";
    launch.run({"launch", "1x2x1", "--", "prog"});
    CHECK(launch.status == 3);
    CHECK(launch.err.find(row.says) != std::string::npos);
    CHECK(launch.files.written.empty());
  }
}

TEST_CASE("dims for one host mean this one, whatever the allocation") {
  Launch launch;
  launch.environment.variables["SLURM_JOB_NODELIST"] = "node[1-3]";
  launch.run({"launch", "2", "--dry-run", "--", "prog"});
  CHECK(launch.err.find("node1") == std::string::npos);
}

TEST_CASE("root, a foreign mpirun, none at all") {
  Launch root;
  root.environment.is_root = true;
  root.run({"launch", "2", "--", "prog"});
  CHECK(root.status == 3);
  CHECK(root.err.find("--allow-run-as-root") != std::string::npos);
  CHECK(root.files.written.empty());
  Launch other;
  other.processes.answer = [](const Command&) {
    ProcessResult result;
    result.out = "mpirun of somebody else\n";
    return result;
  };
  other.run({"launch", "2", "--", "prog"});
  CHECK(other.status == 3);
  Launch none;
  none.processes.answer = [](const Command&) {
    ProcessResult result;
    result.start_error = "No such file or directory";
    return result;
  };
  none.run({"launch", "2", "--dry-run", "--", "prog"});
  CHECK(none.status == 0);
  CHECK(none.out.find("no mpirun here: ddlrun starts the ranks itself") != std::string::npos);
  none.err.clear();
  none.run({"launch", "2", "--mpirun", "/no/mpirun", "--", "prog"});
  CHECK(none.status == 3);
  CHECK(none.err.find("at:  --mpirun\n") != std::string::npos);
  CHECK(none.err.find("try: ls -l /no/mpirun; or leave out --mpirun") != std::string::npos);
  CHECK(none.err.find("apt-get") == std::string::npos);
}

TEST_CASE("a hint that names an option of launch's, in a command that lacks it, says so") {
  Launch launch;
  launch.files.files["/s.prototxt"] = "base_lr: 1\n";
  launch.files.files["/old/run.json"] = "{}";
  launch.run({"intelcaffe", "--solver", "/s.prototxt", "--caffe_bin", "prog", "--cpu", "skx", "--output", "/old",
              "--allow-run-as-root"});
  CHECK(launch.status == 3);
  CHECK(launch.err.find("try: another --run-folder, or none: then each run gets its own   # ddlrun launch takes "
                        "--run-folder\n") != std::string::npos);
  Launch own;
  own.files.files["/old/run.json"] = "{}";
  own.run({"launch", "1", "--run-folder", "/old", "--", "prog"});
  CHECK(own.err.find("each run gets its own\n") != std::string::npos);
}

TEST_CASE("TERM goes to the ranks first, to mpirun where nobody was heard or when it comes again") {
  Launch launch;
  std::vector<int> given;
  launch.processes.meanwhile = [&](const Command& command, const Attention& attention) {
    REQUIRE(attention.on_signal);
    given.push_back(attention.on_signal(SIGINT));
    launch::RankReport alive;
    alive.host = "here";
    attention.err_lines(launch::render_rank_marker(word_after(command, "--watch"), alive));
    for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGTERM, SIGTERM}) given.push_back(attention.on_signal(signal));
  };
  launch.run({"launch", "1", "--", "prog"});
  CHECK(given == std::vector<int>{SIGINT, SIGUSR1, SIGURG, SIGINT, SIGTERM, SIGTERM});
  Launch early;
  early.processes.meanwhile = [&](const Command&, const Attention& attention) {
    CHECK(attention.on_signal(SIGTERM) == SIGTERM);
  };
  early.run({"launch", "1", "--", "prog"});
  Launch alone;
  alone.processes.meanwhile = [&](const Command&, const Attention& attention) { CHECK(!attention.on_signal); };
  alone.run({"launch", "1", "--no-watch", "--verify", "--", "prog"});
}
