// SPDX-License-Identifier: MIT
#include "launch/history/report_html.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace ddlrun::launch;

namespace {

const std::string evil = "<script>alert(1)</script>\"'>&";

// Every text of somebody else's is evil.
ReportInput evil_input() {
  ReportInput input;
  RunRecord& run = input.run;
  run.id = run.start = run.host = run.workdir = run.dims = run.launcher = run.mpirun = evil;
  run.ddlrun_version = run.mpirun_version = run.kernel = run.replay_of = run.result = run.output =
      run.network = evil;
  run.diagnosis = evil;
  run.program = run.exported = run.remarks = run.findings = run.last_lines = run.hosts = {evil};
  run.end = RunEnd{evil, 1, 0};
  run.watched =
      RunMonitoring{RunFailure{0, evil, 0, 0, 0, evil}, {{0, evil, 1, evil, 7, evil}}, {evil}, {evil}, evil};
  run.reasons = {{"-x " + evil, evil}};
  run.ranks = {{0, 0, evil, evil, evil, 1, evil, evil, evil, evil}};
  run.verified = true;
  input.directory = input.command_line = input.metrics_file = input.timeline = input.first_log = input.made =
      evil;
  input.first_lines = input.notes = {evil};
  HistoryRow part;
  part.start = part.directory = part.job = evil;
  input.job_runs = {part, part};
  input.machines = {{evil, "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><g/></svg>"}};
  input.standstill = Standstill{evil, {evil, evil, evil}, {0}};
  input.usage = UsageTimeline{{1, 2}, {{evil, {1, 2}, {3, 4}}}};
  input.training.emplace();
  input.training->net = input.training->data = evil;
  input.training->steps = {{1, 1, 1}, {2, 1, 1}};
  return input;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("launch/history/report_html");

TEST_CASE("whatever the texts are, they are text") {
  const std::string html = render_report_html(evil_input());
  CHECK(count(html, "<script") == 0);
  CHECK(count(html, "&lt;script&gt;") > 25);
  CHECK(count(html, "http:") == 0);
  CHECK(count(html, "<svg") == count(html, "</svg>"));
  CHECK(count(html, "<table>") == count(html, "</table>"));
  ReportInput other = evil_input();
  other.first_lines.clear();
  other.run.watched->stall.clear();
  CHECK(count(render_report_html(other), "<script") == 0);
}

TEST_CASE("use of cores and memory: a line for each series, with a gap where it is not known") {
  ReportInput input;
  CHECK(count(render_report_html(input), "Use of cores") == 0);
  const double none = std::nan("");
  input.standstill = Standstill{evil, {evil, evil, evil}, {0}};
  input.usage = UsageTimeline{{1, 2, 3, 4, 5}, {{"rank 0", {1, 1, none, 2, 2}, {9, 9, none, none, none}}}};
  const std::string html = render_report_html(input);
  CHECK(count(html, "<h2>Use of cores and memory</h2>") == 1);
  CHECK(count(html, "<polyline") == 3);
  CHECK(count(html, ">rank 0<") == 2);
}

TEST_CASE("a large job's table is cut, with what is odd kept") {
  ReportInput input;
  input.run.watched.emplace();
  for (std::uint32_t i = 0; i < 4096; ++i) {
    RunRank rank;
    rank.rank = i;
    rank.host = "h" + std::to_string(i / 4);
    if (i == 4000) rank.exit_status = 9;
    input.run.ranks.push_back(rank);
  }
  const std::string html = render_report_html(input);
  CHECK(html.find("512 of 4096 ranks are listed") != std::string::npos);
  CHECK(html.find("64 of 1024 hosts are drawn") != std::string::npos);
  CHECK(count(html, "<tr") == 513);
  CHECK(count(html, "<tr class=\"odd\"") == 1);
  CHECK(html.find(">4000<") != std::string::npos);
  CHECK(html.size() < 400'000);
}

TEST_CASE("the runs of a job that started again are listed with their time and their end") {
  HistoryRow first, second;
  first.start = "2026-11-27T08:00:00Z";
  first.directory = "/jobs/a/run.7";
  first.seconds = 59;
  first.exit_status = 75;
  first.saved = true;
  second.start = "2026-11-27T08:03:00Z";
  second.directory = "/jobs/a/run.7.1";
  second.seconds = 62;
  second.job = "7";
  ReportInput input;
  input.job_runs = {first, second};
  const std::string html = render_report_html(input);
  CHECK(count(html, "<h3>Runs of job 7: 2, 2:01 in all</h3>") == 1);
  CHECK(count(html, "<li>2026-11-27T08:00:00Z, 0:59: saved (/jobs/a/run.7)</li>") == 1);
  CHECK(count(html, "<li>2026-11-27T08:03:00Z, 1:02: ok (/jobs/a/run.7.1)</li>") == 1);
  input.job_runs.pop_back();
  CHECK(count(render_report_html(input), "Runs of job") == 0);
}

TEST_CASE("a rank that stood still did not exit with status 0") {
  ReportInput input;
  input.run.end = RunEnd{"2026-11-21T03:19:14Z", 124, 0};
  input.run.watched.emplace();
  input.run.watched->first_failure =
      RunFailure{1, "h2", 0, 0, 0, "did not respond while the other ranks waited for it"};
  std::string html = render_report_html(input);
  CHECK(count(html, "<b>Rank 1 on h2 failed first</b>: it did not respond while the other ranks waited") ==
        1);
  input.run.watched->first_failure = RunFailure{0, "h1", 1};
  input.run.watched->stall = "rank 1 on h2 has moved no bytes for 54 s";
  html = render_report_html(input);
  CHECK(count(html, "<b>Ended because of a stall</b>: rank 1 on h2 has moved no bytes for 54 s.") == 1);
  CHECK(count(html, "failed first") == 0);
}

TEST_CASE("an empty record is still a page") {
  const std::string html = render_report_html({});
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(html.find("</html>") != std::string::npos);
}

TEST_SUITE_END();
