// SPDX-License-Identifier: MIT
#include "launch/history/report_input.hpp"

#include "base/text/error.hpp"
#include "launch/history/report_html.hpp"
#include "launch/history/run_record.hpp"
#include "launch/history/standing_run.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"
#include "topology/machine.hpp"
#include "topology/machine_json.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

struct Reported : tests::FakeSystem {
  tests::FakeHostInfo kernel;
  RunRecord run;
  Reported() {
    environment.workdir = "/home/me";
    run.id = "r";
    run.start = "2026-11-21T03:19:14Z";  // 1795231154
    run.end = RunEnd{"2026-11-21T03:20:14Z", 0, 0};
    run.workdir = "/project";
    run.hosts = {"h1", "h2", "h3"};
    run.machine_of_host = {0, 1, 0};
    run.ranks = {{0, 0, "h1", "0:0", "0", 0, "", "", "", ""}, {1, 0, "h2", "0:0", "0", 0, "", "", "", ""}};
    run.rank_count = 2;
  }
  ReportInput read() {
    files.files["/runs/r/run.json"] = render_run_json(run);
    System system = interfaces();
    system.kernel = &kernel;
    return read_run_view(system, "/runs/r");
  }
};

const char* const metrics =
    R"({"type":"config","schema":"ddlrun.train.metrics/1","net":"lenet","data":"digits"})"
    "\n";

}  // namespace

TEST_SUITE_BEGIN("launch/history/report_input");

TEST_CASE("only a run without a record is refused") {
  Reported reported;
  System system = reported.interfaces();
  CHECK_THROWS_AS(read_run_view(system, "/runs/none"), Error);
  const ReportInput input = reported.read();
  CHECK(input.directory == "/runs/r");
  CHECK(input.state == RunState::ended);
  CHECK(input.seconds == 60);
  CHECK(input.machines.empty());
  CHECK_FALSE(input.training);
  CHECK(input.notes.empty());
}

TEST_CASE("the command line is the first comment of argv") {
  Reported reported;
  reported.files.files["/runs/r/argv"] = "# mpirun -n 2 'a b'\nmpirun\n-n\n";
  CHECK(reported.read().command_line == "mpirun -n 2 'a b'");
  reported.files.files["/runs/r/argv"] = "mpirun\n";
  CHECK(reported.read().command_line == "");
}

TEST_CASE("one picture for each kind of machine; a damaged one is noted") {
  Reported reported;
  const auto machine = topology::regular_machine(1, 2, 1, "x");
  reported.files.files["/runs/r/topology-0.json"] = topology::render_machine_json(machine);
  reported.files.files["/runs/r/topology-1.json"] = "{";
  const ReportInput input = reported.read();
  REQUIRE(input.machines.size() == 1);
  CHECK(input.machines[0].title == "h1, one of 2 hosts like it");
  CHECK(input.machines[0].svg.find("<title>core ") != std::string::npos);
  CHECK(input.notes.size() == 1);
}

TEST_CASE("curves from where the program wrote them, unless another run has written there since") {
  Reported reported;
  reported.run.program = {"ddl-train", "--metrics", "out/m.jsonl"};
  CHECK(reported.read().notes == std::vector<std::string>{"no curves: there is no /project/out/m.jsonl"});
  reported.files.files["/project/out/m.jsonl"] = metrics;
  reported.kernel.add("/project/out/m.jsonl").modified_seconds = 1795231154 + 60;
  CHECK(reported.read().notes.empty());
  for (const int seconds : {-1, 63}) {
    reported.kernel.infos["/project/out/m.jsonl"].modified_seconds = 1795231154 + seconds;
    CHECK(reported.read().notes ==
          std::vector<std::string>{"no curves: another run has written /project/out/m.jsonl since"});
  }
  reported.run.program = {"ddl-train", "--metrics=/m.jsonl", "--timeline=/t.json"};
  CHECK(reported.read().notes.size() == 2);
  reported.files.files["/t.json"] = "[]";
  CHECK(reported.read().timeline == "/t.json");
}

TEST_CASE("the last lines of the rank that failed first") {
  Reported reported;
  reported.run.watched.emplace();
  reported.run.watched->first_failure = RunFailure{1, "h2", 9, 0};
  CHECK(reported.read().first_log == "");
  reported.files.files["/runs/r/out/rank-0001.err"] = "loading\nout of memory\n";
  const ReportInput input = reported.read();
  CHECK(input.first_log == "/runs/r/out/rank-0001.err");
  CHECK(input.first_lines == std::vector<std::string>{"loading", "out of memory"});
}

TEST_CASE("what stands still is shown of a run that goes on, while its launch writes it") {
  UsageState usage;
  usage.written_s = 1000;
  usage.standstill = Standstill{"note", {"rank 3 sleeps", "h2", "gdb -p 7"}, {3}};
  for (const RunState state : {RunState::running, RunState::elsewhere})
    CHECK(find_standstill(state, usage, 1010) == usage.standstill);
  CHECK_FALSE(find_standstill(RunState::running, usage, 1011));
  for (const RunState state : {RunState::ended, RunState::unseen})
    CHECK_FALSE(find_standstill(state, usage, 1001));
  Reported reported;
  reported.run.end.reset();
  reported.run.host = "another";
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(reported.interfaces().clock.now().time_since_epoch());
  usage.written_s = now.count();
  reported.files.files["/runs/r/usage.json"] = render_usage_json(usage);
  const ReportInput input = reported.read();
  CHECK(input.standstill == usage.standstill);
  const std::string html = render_report_html(input);
  CHECK(html.find("<b>Still running, without progress</b>: rank 3 sleeps") != std::string::npos);
  CHECK(html.find("<pre>gdb -p 7</pre>") != std::string::npos);
  System system = reported.interfaces();
  CHECK(is_reporting(system, "/runs/r"));
  CHECK_FALSE(is_reporting(system, "/runs/none"));
  REQUIRE(find_standing_run(system, "/runs/r"));
  CHECK(find_standing_run(system, "/runs/r")->id == "r");
  reported.files.files["/runs/r/usage.json"] = "{";
  CHECK_FALSE(find_standing_run(system, "/runs/r"));
  CHECK_FALSE(is_reporting(system, "/runs/r"));
}

TEST_SUITE_END();
