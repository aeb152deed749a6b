// SPDX-License-Identifier: MIT
// The reason of a failure: which line has it, that the headline keeps it, and that its remedies come first.
#include "doctor/diagnose/diagnosis.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

namespace {

Finding cause_of(const std::string& text, const RunStatus& end = {1}) {
  const Diagnosis diagnosis = diagnose_text(text, end);
  REQUIRE(diagnosis.cause);
  return *diagnosis.cause;
}

std::size_t place_of(const Finding& finding, const std::string& words) {
  const auto& all = finding.remedies;
  const auto at =
      std::ranges::find_if(all, [&](const std::string& one) { return one.find(words) != std::string::npos; });
  return static_cast<std::size_t>(at - all.begin());
}

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/reason");

TEST_CASE("a headline goes on behind each colon, and keeps its end where it is long") {
  const std::string path = "/opt/" + std::string(70, 'p') + "/solver.so";
  const std::string text = "FATAL:   cannot start the solver:\nload of " + path + ":\nopening " + path +
                           ":\nits section table ends early\n";
  const Finding cause = cause_of(text);
  CHECK(cause.title.starts_with("FATAL:   cannot start the solver: load of /opt/"));
  CHECK(cause.title.ends_with(": its section table ends early"));
  CHECK(cause.title.size() <= 200);
  CHECK(place_of(cause, "ls -ld " + path) < cause.remedies.size());
}

TEST_CASE("the value of a known message keeps its end too") {
  const std::string name(380, 'q');
  const Finding cause = cause_of("ERROR: LoadError: " + name + " is no mesh\n");
  CHECK(cause.title.ends_with("q is no mesh"));
}

TEST_CASE("a path inside a container is looked for there") {
  const Finding cause =
      cause_of("FATAL:   cannot start:\nentry point /opt/flow/run doesn't exist in container\n");
  CHECK(cause.remedies.front().starts_with("apptainer exec IMAGE ls -ld /opt/flow/run"));
  CHECK(place_of(cause, "in the job: is it there") == cause.remedies.size());
}

TEST_CASE("what Torque prints as it ends a job is no error before the limit") {
  // The mail of Torque 6: its administrator guide has -11 as JOB_EXEC_OVERLIMIT_WT.
  const std::string mail =
      "PBS Job Id: 88.fe1\nJob Name:   duct\nExec host:  n4/0\nAborted by PBS Server\n"
      "Job exceeded its walltime limit. Job was aborted\nSee Administrator for help\nExit_status=-11\n";
  for (const RunStatus& end : {RunStatus{}, RunStatus{-11, LogSource::pbs}, RunStatus{1}})
    CHECK(cause_of("step 1 of 9\n" + mail, end).id == "F26");
  CHECK(cause_of("solve: error: the mesh has no cells\n" + mail.substr(mail.find("Aborted"))).title ==
        "solve: error: the mesh has no cells");
}

TEST_CASE("hydra prints the status of wait(2)") {
  const auto title = [](const std::string& place, const std::string& code) {
    return cause_of("[mpiexec@n1] Error: Unable to run bstrap_proxy on " + place + " (pid 4, exit code " +
                    code + ")\n")
        .title;
  };
  CHECK(title("n7:4", "65280")
            .starts_with("Intel MPI could not start its daemon on host n7: exit status 255: ssh"));
  CHECK(title("n7", "256") == "Intel MPI could not start its daemon on host n7: exit status 1");
  CHECK(title("n7", "9").starts_with("Intel MPI could not start its daemon on host n7: signal 9 (SIGKILL)"));
  const Finding cause =
      cause_of("[mpiexec@n1] Error: Unable to run bstrap_proxy on n7:4 (pid 4, exit code 65280)\n");
  CHECK(cause.place.host == "n7");
  CHECK(cause.remedies.front().starts_with("ssh n7 true"));
  CHECK(cause.remedies[1].starts_with("I_MPI_HYDRA_BOOTSTRAP="));
}

TEST_CASE("an exception that a language reports is classed by its own text") {
  const Finding cause = cause_of(
      "ERROR: LoadError: could not load symbol \"mesh_open\":\n"
      "/opt/julia/bin/julia: undefined symbol: mesh_open\nStacktrace:\n [1] open_mesh\n");
  CHECK(cause.title.ends_with(": /opt/julia/bin/julia: undefined symbol: mesh_open"));
  CHECK(cause.cause.starts_with("The program loads another library, or version"));
  CHECK(cause.remedies.front().starts_with("ldd "));
}

TEST_CASE("the sentence below MATLAB's number is the reason, and the number chooses the remedies") {
  const auto of_code = [](const std::string& code, const std::string& reason) {
    return cause_of("License checkout failed.\nLicense Manager Error -" + code + "\n" + reason + "\n");
  };
  // MathWorks' pages on License Manager Errors.
  const Finding no_file = of_code("1", "The license file cannot be found.");
  CHECK(no_file.title == "MATLAB gets no license (error -1): The license file cannot be found.");
  CHECK(no_file.remedies.front().starts_with("export MLM_LICENSE_FILE="));
  CHECK(of_code("10", "Your license for Simulink has expired.").remedies.front().starts_with("date; "));
  CHECK(of_code("5", "Cannot find a license for Simulink.").remedies.front().starts_with("lmutil "));
  CHECK(of_code("103", "The option file names another host.").title ==
        "MATLAB gets no license: The option file names another host.");
}

TEST_CASE("a launcher that reports no reason yields to the line that has it, before or behind") {
  const std::string report = "srun: error: task 2 launch failed: Plugin setup failed\n";
  const std::string reason =
      "[2024-01-02T03:04:05.900] [7.0] error: cgroupx: cannot make /run/cgx/88: No such file or directory\n";
  for (const std::string& text : {report + reason, reason + report}) {
    CAPTURE(text);
    const Finding cause = cause_of(text);
    CHECK(cause.title.ends_with("cannot make /run/cgx/88: No such file or directory"));
    CHECK(place_of(cause, "/run/cgx/88") < cause.remedies.size());
  }
  CHECK(cause_of(report + std::string(7, '\n') + reason)
            .title.starts_with("srun: error: task 2 launch failed"));
}

TEST_CASE("the program's lines come behind the remedies where the system refused something") {
  const std::string frame = "Traceback (most recent call last):\n  File \"serve.py\", line 31, in <module>\n";
  const Finding port = cause_of(frame + "OSError: [Errno 98] address already in use by the dashboard\n");
  CHECK(port.remedies.front().starts_with("ss -ltnp"));
  CHECK(place_of(port, "sed -n") == port.remedies.size() - 1);
  CHECK(
      cause_of(frame + "ValueError: the mesh has no cells\n").remedies.front().starts_with("sed -n 29,33p"));
}

TEST_CASE("the builtin of bash that names a directory is no part of its path") {
  const Finding cause = cause_of("./j.sh: line 2: cd: /scratch/nodir/run7: No such file or directory\n");
  CHECK(cause.title == "the job script cannot change to a directory: /scratch/nodir/run7");
  for (const std::string& remedy : cause.remedies) CHECK(remedy.find("cd: ") == std::string::npos);
  CHECK(place_of(cause, "mkdir -p /scratch/nodir/run7") == 0);
}

TEST_CASE("the CR of a script's DOS line end is the cause, and that of a whole log is not") {
  const std::string ruler = std::string(74, '-');
  const auto message = [&ruler](const std::string& end, const std::string& program_end) {
    return ruler + end + "\nmpirun was unable to launch the specified application as it could not access" +
           end + "\nor execute an executable:" + end + "\n" + end + "\nExecutable: ./exit3" + program_end +
           "\nNode: vm" + end + "\n" + end + "\nwhile attempting to start process rank 0." + end + "\n" +
           ruler + end + "\n";
  };
  CHECK(cause_of(message("", "\r")).id == "J70");
  CHECK(cause_of("cr2.sh: line 2: module: command not found\n" + message("", "\r")).id == "J70");
  CHECK(cause_of(message("\r", "\r")).id == "C23");
  CHECK(cause_of(message("", "")).id == "C23");
}

TEST_CASE("a key that any program uses names no checkpoint, and the line of the program stays") {
  const Finding cause = cause_of(
      "start\nTraceback (most recent call last):\n  File \"/home/u7/k.py\", line 2, in <module>\n"
      "    print(cfg[\"model\"])\nKeyError: 'model'\n");
  CHECK(cause.id == "E24");
  CHECK(cause.title == "KeyError: 'model' (k.py:2)");
}

TEST_CASE("the rank and host that torchrun's root cause names are the place of a kill") {
  // torch 2.1, torch/distributed/elastic/multiprocessing/errors/__init__.py
  const Finding cause = cause_of(
      "Root Cause (first observed failure):\n[0]:\n  time      : 2023-09-14_01:45:50\n  host      : n7.site\n"
      "  rank      : 2 (local_rank: 2)\n  exitcode  : -9 (pid: 36071)\n  error_file: <N/A>\n"
      "  traceback : Signal 9 (SIGKILL) received by PID 36071\n");
  CHECK(cause.place.rank == 2u);
  CHECK(cause.place.host == "n7.site");
  CHECK(place_of(cause, "ssh n7.site ") == 0);
  // As a page on the web shows it.
  const Finding copied = cause_of(
      "Root Cause (first observed failure) :\n[0]:\ntime\nhost\n2023-09-14 01:45:50\nn7-X10\n"
      "rank2 (local rank: 2)exitcode: -9 (pid: 36071)error file: <N/A>\n"
      "traceback : signal 9 (SIGKILL) received by PID 36071\n");
  CHECK(copied.place.rank == 2u);
  CHECK(copied.place.host == "n7-X10");
}

TEST_CASE("a remedy names what the message names") {
  const Finding fortran =
      cause_of("At line 3 of file b.f90 (unit = 5, file = 'grid.dat')\nFortran runtime error: End of file\n");
  CHECK(fortran.id == "R4");
  CHECK(place_of(fortran, "ls -l grid.dat; tail grid.dat") == 0);
  const Finding java = cause_of(
      "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat J.main(J.java:1)\n");
  CHECK(place_of(java, "spark-submit") == java.remedies.size());
  CHECK(place_of(java, "java -Xmx") == 0);
  const Finding cores = cause_of(
      "While computing bindings, we found no available cpus on\nthe following node:\n\n  Node:  n3\n\n"
      "Please check your allocation.\n");
  CHECK(cores.cause.find("pe=N") != std::string::npos);
  CHECK(place_of(cores, "--map-by node:pe=N") == 0);
}

TEST_CASE("a status that names a limit is the cause without a log") {
  // signal(7) on x86: SIGXCPU is 24, SIGXFSZ 25; a shell adds 128.
  CHECK(cause_of("", {152}).title.find("SIGXCPU") != std::string::npos);
  CHECK(cause_of("", {153}).title.find("SIGXFSZ") != std::string::npos);
}

TEST_SUITE_END();
