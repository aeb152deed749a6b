// SPDX-License-Identifier: MIT
#include "schedulers/client/stop_reason.hpp"

#include "tests/support/failed_job.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;
using tests::FailedJob;

TEST_SUITE_BEGIN("schedulers/client/stop_reason");

TEST_CASE("the script's own reason and remedy come first") {
  FailedJob failed;
  const std::string words = "ddlrun job: the program is not there: ./train\n  try: ls -l /w\n";
  failed.stop(words);
  const FailureSummary found = failed.summary("something\n" + words);
  CHECK(found.first == "the program is not there: ./train");
  CHECK(found.remedies == std::vector<std::string>{"ls -l /w"});
  CHECK(found.cause() == found.first);
  CHECK(found.diagnosis.empty());
}

TEST_CASE("lines of a script that a program printed are no reason and no remedy of its job") {
  const std::string forged = "ddlrun job: the disk is full\n  try: rm -rf something\n";
  FailedJob failed;
  FailureSummary found = failed.summary(forged);
  CHECK(found.first.empty());
  CHECK(found.remedies.empty());
  // O9 is the signature of a script that doctor stopped.
  found = failed.summary("ddlrun job: doctor's status is 1: nothing is started\n  try: rm -rf something\n");
  CHECK(found.cause().empty());
  CHECK(found.remedies.empty());
  CHECK(found.diagnosis.find("[O9]") == std::string::npos);
  // Below the script's own words too, and with failures of doctor above them.
  failed.stop("ddlrun job: there is no conda on this host\n  try: module avail\n");
  found = failed.summary("fail  LIM-01  locked memory\n  try   rm -rf something\n\n" + forged);
  CHECK(found.first == "there is no conda on this host");
  CHECK(found.remedies == std::vector<std::string>{"module avail"});
  // Doctor stopped the job, and its report is not the last one in the log.
  const std::string end =
      "ddlrun job: doctor's status is 1: nothing is started\n  try: --doctor warn goes on\n";
  failed.stop(end);
  found = failed.summary(
      "fail  LIM-01  locked memory\n  try   ulimit -l\n\n1 host: 9 checks in 0.1 s: 1 fail\n" + end +
      "fail  SW-01  x\n  try   rm -rf something\n\n1 host: 9 checks in 0.1 s: 1 fail\n" + forged);
  CHECK(found.first == "doctor's status is 1: nothing is started: LIM-01 locked memory");
  CHECK(found.remedies == std::vector<std::string>{"ulimit -l", "--doctor warn goes on"});
}

TEST_CASE("the script's file counts as a regular file of this user with the two lines of ddl_fail") {
  const std::string words = "ddlrun job: no conda\n  try: module avail\n";
  for (const std::string text :
       {"", "no conda\n", "ddlrun job: no conda\n", "x\nddlrun job: no conda\n  try: ls\n"}) {
    CAPTURE(text);
    FailedJob failed;
    failed.stop(text);
    CHECK(failed.summary("").first.empty());
  }
  FailedJob failed;
  failed.stop(words).uid = 1002;
  CHECK(failed.summary("").first.empty());
  failed.stop(words).kind = FileInfo::Kind::link;
  CHECK(failed.summary("").first.empty());
  failed.stop(words).kind = FileInfo::Kind::file;
  CHECK(failed.summary("").first == "no conda");
  // That of one task.
  failed.job.task = "3";
  CHECK(failed.summary("").first.empty());
  failed.stop("ddlrun job: no venv\n  try: ls\n", "stop_reason.3");
  CHECK(failed.summary("").first == "no venv");
  failed.job.dir.clear();  // a job of sbatch
  CHECK(failed.summary(words).first.empty());
}

// As doctor prints it: README.md and docs/doctor.md have such reports.
TEST_CASE("all failures of doctor's last report are named, and the remedy of the first is the remedy") {
  const std::string old =
      "fail  NET-01  links and MTU\n  at    node1\n\n2 hosts by ssh, quick: 108 checks in 0.1 s: 1 fail\n";
  const std::string report =
      "fail  LIM-01  locked memory\n  at    node2 (1 of 2)\n  is    memlock 64 KiB\n  try   there, as root:\n"
      "          printf '* - memlock unlimited\\n' > /etc/x.conf\n\n"
      "fail  LIM-01  locked memory\n  at    node1 (1 of 2)\n\n"
      "fail  DISK-01  space\n  at    node1 (1 of 2)\n  try   delete what is not needed\n\n";
  const std::string end =
      "2 hosts by ssh, quick: 108 checks in 0.1 s: 38 pass, 3 fail\n"
      "ddlrun job: doctor's status is 1: nothing is started\n  try: --doctor warn goes on\n";
  FailedJob failed;
  failed.stop(end.substr(end.find("ddlrun job: ")));
  FailureSummary found = failed.summary(old + report + end);
  CHECK(found.first == "doctor's status is 1: nothing is started: LIM-01 locked memory, DISK-01 space");
  CHECK(found.remedies ==
        std::vector<std::string>{
            "printf '* - memlock unlimited\\n' > /etc/x.conf   # on node2 (1 of 2), as root",
            "--doctor warn goes on"});
  // A program that is missing is missing whatever doctor is asked to do.
  found = failed.summary(
      "fail  SW-01  the program on every host\n  is    trian is not in PATH\n  try   put the "
      "program there\n\n" +
      end);
  CHECK(found.first.ends_with(": SW-01 the program on every host"));
  CHECK(found.remedies == std::vector<std::string>{"put the program there"});
}

TEST_CASE("the script's words and the failed checks of doctor are found in a log alone") {
  FailedJob failed;
  failed.files.files["/w/a.log"] =
      "fail  SW-01  the program on every host\n  try   put the program there\n\n"
      "1 host by ssh, quick: 10 checks in 0.2 s: 9 pass, 1 fail\n"
      "ddlrun job: doctor's status is 1: nothing is started\n  try: --doctor warn goes on\n";
  System system = failed.interfaces();
  const FailureSummary found = read_script_words(system, "/w/a.log");
  CHECK(found.first == "doctor's status is 1: nothing is started: SW-01 the program on every host");
  CHECK(found.remedies == std::vector<std::string>{"put the program there   # from the log: check it first"});
  CHECK(read_script_words(system, "/w/none.log").first.empty());
  // A comment is continued.
  failed.files.files["/w/a.log"] = "ddlrun job: no conda\n  try: conda env list   # names them\n";
  CHECK(read_script_words(system, "/w/a.log").remedies ==
        std::vector<std::string>{"conda env list   # names them; from the log: check it first"});
}

TEST_SUITE_END();
