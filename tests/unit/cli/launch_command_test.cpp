// SPDX-License-Identifier: MIT
// The command with fake interfaces: what is run, with which environment, what is written, which status comes
// back.
#include "launch/monitor/monitor_record.hpp"
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

TEST_SUITE_BEGIN("cli/launch_command");

TEST_CASE("launch writes the run directory, runs mpirun, gives its status") {
  Launch launch;
  launch.processes.result.exit_status = 7;
  launch.run({"launch", "2", "-x", "KEY=s3cret", "--no-monitor", "--no-diagnose", "--", "prog", "a b"});
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

// srun(1) of Slurm 22.05: without --error, stderr goes to the file of --output too.
TEST_CASE(
    "srun as the automatic choice: where it redirects stderr, no supervisor writes status lines there") {
  const auto launch_with = [](const std::vector<std::string>& options) {
    Launch launch;
    launch.environment.variables.insert({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "here"}});
    launch.processes.answer = [](const Command& command) {
      ProcessResult answer;
      if (command[0] == "mpirun")
        answer.start_error = "No such file or directory";
      else
        answer.out = "slurm 22.05.8\n";
      return answer;
    };
    std::vector<std::string> words{"launch", "2", "here"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "prog"});
    launch.run(words);
    return launch;
  };
  const auto reports = [](const Launch& launch) {
    REQUIRE(launch.processes.ran.back().front() == "srun");
    return std::ranges::count(launch.processes.ran.back(), "--monitor") == 1;
  };
  CHECK(reports(launch_with({})));
  CHECK(reports(launch_with({"--mpi-arg", "-l"})));
  for (const char* word : {"-oranks.txt", "--output=ranks.txt", "-eranks.txt", "--error=ranks.txt"}) {
    CAPTURE(word);
    CHECK_FALSE(reports(launch_with({"--mpi-arg", word})));
  }
  CHECK_FALSE(reports(launch_with({"--mpi-arg", "-o", "--mpi-arg", "ranks.txt"})));
  const Launch framed = launch_with({"--tee", "--mpi-arg", "-oranks.txt"});
  CHECK(framed.status == 2);
  CHECK(framed.err.find("--tee needs the ranks' stderr, which an --mpi-arg redirects") != std::string::npos);
}

TEST_CASE("-q shows errors and the end of what failed") {
  struct Row {
    int status;
    std::string end;  // "": nothing is shown
  };
  for (const Row& row :
       {Row{0, ""}, Row{saved_status, ""}, Row{3, "ddlrun: the job ended with status 3; run directory "},
        Row{143, "ddlrun: the job ended by signal 15 (status 143); run directory "}}) {
    CAPTURE(row.status);
    Launch launch;
    launch.processes.result.exit_status = row.status;
    launch.run({"launch", "2", "-q", "--no-monitor", "--no-diagnose", "--", "prog"});
    CHECK(launch.err.starts_with(row.end));
    CHECK(launch.err.empty() == row.end.empty());
  }
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
    std::vector<std::string> words{"launch", "2", "--no-monitor", "--no-diagnose"};
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

TEST_CASE("a dry run writes nothing and starts nothing") {
  Launch launch;
  launch.run({"launch", "2", "--dry-run", "--", "prog"});
  CHECK(launch.status == 0);
  CHECK(launch.files.written.empty());
  CHECK(launch.processes.ran == std::vector<Command>{{"mpirun", "--version"}});
  CHECK(launch.out.find("mpirun -n 2 --rankfile ") != std::string::npos);
}

TEST_CASE("the trainer is found beside the binary, gets the options and is verified") {
  Launch launch;
  launch.files.files["/opt/ddlrun/bin/ddl-train"] = "";
  launch.run({"launch", "2", "--", "--epochs", "3"});
  CHECK(launch.status == 0);
  const Command& ran = launch.processes.ran.back();
  const Command tail(ran.end() - 6, ran.end() - 1);
  CHECK(tail == Command{"--", "/opt/ddlrun/bin/ddl-train", "--epochs", "3", "--metrics"});
  CHECK(ran.back().ends_with("/metrics.jsonl"));  // in the run directory
  CHECK(word_after(ran, "/opt/ddlrun/bin/ddlrun") == "exec");
  CHECK(launch.processes.watched);
}

TEST_CASE("what cannot start is refused before anything is written") {
  struct Row {
    std::vector<std::string> words;
    int status;
    std::string says;
  };
  for (const Row& row :
       {Row{{"launch", "2", "--", "missing"}, 3, "the program 'missing' was not found on here"},
        Row{{"launch", "2", "--", "/not/here"}, 3, "at:  /not\n"},
        Row{{"launch", "2", "--", "python3", "gone.py"}, 3, "script 'gone.py' was not found on here"},
        Row{{"launch", "5", "--", "prog"}, 3, "5 cores, there are 4"},
        Row{{"launch", "--np", "-5", "--", "prog"}, 3, "try: --np -4"},
        Row{{"launch", "2"}, 3, "the bundled trainer ddl-train was not found"},
        Row{{"launch", "./prog"}, 2, "'./prog' is a program; put programs after --"},
        Row{{"launch", "2", "./prog"}, 2, "try: ddlrun launch --sockets 1 --cores 4 2 -- ./prog"},
        Row{{"launch", "2x2", "h1,h2", "-x", "KEY=s3cret", "./my prog", "--steps", "9"},
            2,
            "try: ddlrun launch --sockets 1 --cores 4 2x2 h1,h2 -x KEY=... -- './my prog' --steps 9"},
        Row{{"launch", "2", "-xKEY=s3cret", "./prog"}, 2, "4 2 -xKEY=... -- ./prog"},
        Row{{"launch", "2", "-vx", "KEY=s3cret", "./prog"}, 2, "4 2 -vx KEY=... -- ./prog"},
        Row{{"launch", "2x2", "h1,h2", "prog", "h3"},
            2,
            "try: ddlrun launch --sockets 1 --cores 4 2x2 h1,h2 -- prog h3"},
        Row{{"launch", "2x2", "h1,h2", "--stepps", "./prog"}, 2, "unknown option '--stepps'"},
        Row{{"launch", "2", "--epochs", "1"}, 2, "'--epochs' is no option of ddlrun launch; put options of"},
        Row{{"launch", "2", "--epochs", "1"}, 2, "try: ddlrun launch --sockets 1 --cores 4 2 -- --epochs 1"},
        Row{{"launch", "2", "--verfy", "--epochs", "1"}, 2, "try: --verify"},
        Row{{"launch", "2x2", "h1", "h2"}, 2, "try: join hosts with commas: h1,h2"},
        Row{{"launch", "-rf", "/none", "--", "prog"}, 3, "/none"},
        Row{{"launch", "2", "-x", "NOPE", "--", "prog"}, 2, "NOPE is not set here"},
        Row{{"launch", "2", "--verify", "--no-verify", "--", "prog"}, 2, "--verify and --no-verify conflict"},
        Row{{"launch", "2", "--strict", "--no-verify", "--", "prog"}, 2, "--strict and --no-verify conflict"},
        Row{{"launch", "2", "--order", "dll", "--", "prog"}, 2, "--order ddl"},
        Row{{"launch", "2", "--", ""}, 2, "the program's name is empty"}}) {
    CAPTURE(row.says);
    Launch launch;
    launch.files.files["/bin/python3"] = "";
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
  for (const Row& row : {Row{"SLURM_JOB_NODELIST", "node[1-3]", "1x2x1 needs 2 hosts, 3 given"},
                         Row{"PBS_NODEFILE", "/var/spool/nodes", "1x2x1 needs 2 hosts, 3 given"},
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
  launch.run({"intelcaffe", "--solver", "/s.prototxt", "--caffe_bin", "prog", "--cpu", "skx", "--output",
              "/old", "--allow-run-as-root"});
  CHECK(launch.status == 3);
  CHECK(
      launch.err.find(
          "try: another --run-dir, or omit it: each run then gets its own directory   # ddlrun launch takes "
          "--run-dir\n") != std::string::npos);
  Launch own;
  own.files.files["/old/run.json"] = "{}";
  own.run({"launch", "1", "--run-dir", "/old", "--", "prog"});
  CHECK(own.err.find("each run then gets its own directory\n") != std::string::npos);
}

TEST_SUITE_END();
