// SPDX-License-Identifier: MIT
// What Open MPI 4.1.4 and 5.0.7 and OpenSSH 9.2 and 10.0 printed when a host, its orted or its sshd went
// away.
#include "launch/monitor/daemon_loss.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace ddlrun;

namespace {

launch::DaemonLoss read(const std::vector<std::string>& lines) {
  launch::DaemonLossDetector watch;
  for (const std::string& line : lines) watch.take_line(line + "\n");
  return watch.lost();
}

}  // namespace

TEST_SUITE_BEGIN("launch/monitor/daemon_loss");

TEST_CASE("a killed supervisor: hydra ends the proxies, srun names its host, which is not lost") {
  CHECK(read({"[proxy:0:3@node4] HYD_pmcd_pmip_control_cmd_cb (pm/pmiserv/pmip_cb.c:899): assert (!closed) "
              "failed"})
            .killed);
  const auto slurm = read({"srun: error: node3: task 2: Killed", "srun: error: node1: task 0: Terminated"});
  CHECK(slurm.killed);
  CHECK(slurm.reporter == "node3");
  CHECK_FALSE(slurm.said);
  CHECK_FALSE(read({"srun: error: node1: task 0: Terminated", "srun: error: node3: task 2: Killed"}).killed);
  CHECK(read({"prterun noticed that process rank 2 with PID 5461 on node node3 exited on"}).reporter ==
        "node3");
}

TEST_CASE("hydra lost the proxy of a host, not its own proxy a connection") {
  CHECK(read({"[mpiexec@node1] control_cb (/mpich-5.0.2/src/pm/hydra/mpiexec/pmiserv_cb.c:280): assert "
              "(!closed) failed"})
            .said);
  CHECK_FALSE(
      read({"[proxy:0@node1] HYD_pmcd_pmip_control_cmd_cb (proxy/pmip_cb.c:490): assert (!closed) failed"})
          .said);
}

TEST_CASE("the loss of a host and its name") {
  struct Row {
    const char* what;
    std::vector<std::string> lines;
    bool said;
    std::string host;
  };
  const std::vector<Row> rows{
      {"an orted was killed",
       {"--------------------------------------------------------------------------",
        "ORTE has lost communication with a remote daemon.", "",
        "  HNP daemon   : [[19145,0],0] on node node1", "  Remote daemon: [[19145,0],2] on node node3"},
       true,
       "node3"},
      {"a prted was killed",
       {"--------------------------------------------------------------------------",
        "PRTE has lost communication with a remote daemon.", "",
        "  HNP daemon   : [prterun-node1-84@0,0] on node node1",
        "  Remote daemon: [prterun-node1-84@0,2] on node node3"},
       true,
       "node3"},
      {"an sshd was killed",
       {"Connection to node3 closed by remote host.",
        "ORTE was unable to reliably start one or more daemons."},
       true,
       "node3"},
      {"a link went down",
       {"Timeout, server node3 not responding.", "ORTE was unable to reliably start one or more daemons."},
       true,
       "node3"},
      {"a program that talks about it",
       {"log: ORTE has lost communication with a remote daemon. (once)"},
       false,
       ""},
      {"no host name", {"Connection to $(reboot) closed by remote host."}, false, ""},
      {"another's connection", {"Connection to db1 closed by remote host."}, false, "db1"},
      {"nothing", {"", "a line"}, false, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(read(row.lines).said == row.said);
    CHECK(read(row.lines).host == row.host);
  }
}

TEST_CASE("a host that MPICH did not reach") {
  CHECK(read({"[mpiexec@h1] ui_cmd_cb (mpiexec/pmiserv_pmci.c:51): Launch proxy failed."}).unreached);
  CHECK_FALSE(read({"the log says: Launch proxy failed."}).unreached);
}

TEST_CASE("a host that refuses ssh") {
  // OpenSSH 9.2 under Open MPI 4.1.4; PRRTE has the sentence with its own name.
  const std::string sentence = "ORTE was unable to reliably start one or more daemons.";
  const auto denied = read({"ddl@h2: Permission denied (publickey,password).", sentence});
  CHECK(denied.unreached);
  CHECK(denied.refusal == "ddl@h2: Permission denied (publickey,password).");
  CHECK(denied.refused == "h2");
  CHECK(read({sentence, "ssh: connect to host h3 port 22: Connection refused"}).refused == "h3");
  CHECK(read({sentence, "ssh: Could not resolve hostname h4: Name or service not known"}).refused == "h4");
  CHECK(read({"PRTE was unable to reliably start one or more daemons.", "Host key verification failed."})
            .unreached);
  CHECK_FALSE(read({"ddl@h2: Permission denied (publickey)."}).unreached);  // an ssh of the program's
  CHECK_FALSE(read({sentence}).unreached);                                  // for another reason
  CHECK(read({sentence, "u@$(x): Permission denied (publickey)."}).refused.empty());
}

TEST_CASE("a daemon that reports a rank ended by a signal is not lost") {
  // Open MPI 4.1.4, Open MPI 5.0.7.
  CHECK(read({"mpirun noticed that process rank 1 with PID 0 on node h2 exited on signal 9 (Killed)."})
            .reporter == "h2");
  CHECK(read({"prterun noticed that process rank 1 with PID 84 on node h2 exited on signal 11 (Segmentation "
              "fault)."})
            .reporter == "h2");
  CHECK(read({"a noticed that process rank 1 on node $(x) exited on signal 9"}).reporter.empty());
  CHECK(read({" exited on signal 9 noticed that process rank 1 on node h2"}).reporter.empty());
}

TEST_SUITE_END();
