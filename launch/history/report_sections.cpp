// SPDX-License-Identifier: MIT
#include "launch/history/report_sections.hpp"

#include "base/text/host_list.hpp"
#include "base/text/svg.hpp"
#include "base/text/text.hpp"
#include "launch/history/curves_svg.hpp"
#include "launch/history/file_link.hpp"
#include "launch/history/ranks_svg.hpp"
#include "launch/rank/status_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_points = 400;
constexpr std::size_t most_listed = 64;  // remarks, stalls and the like

std::string render_list(const std::vector<std::string>& entries) {
  if (entries.empty()) return {};
  std::string text = "<ul>\n";
  for (std::size_t i = 0; i < std::min(entries.size(), most_listed); ++i)
    text += fmt::format("<li>{}</li>\n", escape_html(entries[i], 600));
  if (entries.size() > most_listed)
    text += fmt::format("<li>and {} more</li>\n", entries.size() - most_listed);
  return text + "</ul>\n";
}

std::string render_lines(const std::vector<std::string>& lines) {
  std::string text = "<pre>";
  for (const std::string& line : lines) text += escape_html(line, 1000) + "\n";
  return text + "</pre>\n";
}

// One row of a <dl>, or nothing.
std::string fact(std::string_view name, const std::string& value) {
  if (value.empty()) return {};
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value, 2000));
}

std::string render_failure(const RunFailure& failure) {
  if (failure.alike > 0)
    return fmt::format("<p><b>All {} ranks failed alike</b>: exit status {}.</p>\n", failure.alike,
                       failure.exit_status);
  if (failure.differ.size() == 2)
    return fmt::format("<p><b>Ranks {} and {} failed first</b>: they make different calls.</p>\n",
                       failure.differ[0], failure.differ[1]);
  if (!failure.with.empty()) {
    const auto all = failure.all();
    return fmt::format("<p><b>Ranks {} failed within 1 s</b>: exit status {}.</p>\n",
                       escape_html(name_ends(all), 400), render_statuses(all));
  }
  const std::string why = failure.start_error == 0 ? "" : ": " + describe_start_error(failure.start_error);
  return fmt::format("<p><b>Rank {} on {} failed first</b>: it {}{}.</p>\n", failure.rank,
                     escape_html(failure.host, 100), escape_html(failure.words(), 200),
                     escape_html(why, 200));
}

std::vector<std::string> stall_lines(const RunMonitoring& watched) {
  std::vector<std::string> lines;
  for (const RunStall& stall : watched.stalls)
    lines.push_back(
        stall.state == "C"
            ? fmt::format("rank {} on {} used CPU time and moved no bytes for {} s, while others waited: {}",
                          stall.rank, stall.host, stall.seconds, stall.process)
            : fmt::format("rank {} on {} made no progress for {} s: {} in state {}", stall.rank, stall.host,
                          stall.seconds, stall.process, stall.state));
  for (const std::string& host : watched.silent_hosts) lines.push_back("host " + host + " was silent");
  for (const std::string& host : watched.lost_hosts) lines.push_back("host " + host + " was lost");
  return lines;
}

// A job that starts again has several.
std::string render_job_runs(const std::vector<HistoryRow>& runs) {
  if (runs.size() < 2) return {};
  std::vector<std::string> lines;
  std::int64_t seconds = 0;
  for (const HistoryRow& run : runs) {
    seconds += run.seconds.value_or(0);
    lines.push_back(fmt::format("{}, {}: {} ({})", run.start,
                                run.seconds ? render_duration(*run.seconds) : "unknown time",
                                status_words(run), run.directory));
  }
  return fmt::format("<h3>Runs of job {}: {}, {} in all</h3>\n", escape_html(runs.back().job, 80),
                     runs.size(), render_duration(seconds)) +
         render_list(lines);
}

std::string render_state(RunState state) {
  if (state == RunState::unseen)
    return "<p>The end of this run is unknown: its ddlrun was killed, or the machine went down.</p>\n";
  if (state == RunState::elsewhere)
    return "<p>This run was started on another host; whether it still runs is not known here.</p>\n";
  return {};
}

std::string render_standstill(const Standstill& standstill) {
  const Message& message = standstill.message;
  return fmt::format("<p><b>Still running, without progress</b>: {}</p>\n<p>On {}, try:</p>\n<pre>{}</pre>\n",
                     escape_html(message.what, 1000), escape_html(message.where, 100),
                     escape_html(message.hint, 400));
}

// At most most_rank_rows, ascending; odd ones first among those that are chosen.
std::vector<const RunRank*> chosen_ranks(const RunRecord& run) {
  std::vector<const RunRank*> ranks;
  for (const RunRank& rank : run.ranks) ranks.push_back(&rank);
  if (ranks.size() <= most_rank_rows) return ranks;
  std::stable_partition(ranks.begin(), ranks.end(), [&](const RunRank* rank) { return is_odd(run, *rank); });
  ranks.resize(most_rank_rows);
  std::sort(ranks.begin(), ranks.end(), [](auto* a, auto* b) { return a->rank < b->rank; });
  return ranks;
}

std::string render_rank_row(const RunRecord& run, const RunRank& rank) {
  std::string text = fmt::format(
      "<tr{}><td>{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td><td>{}</td>",
      is_odd(run, rank) ? " class=\"odd\"" : "", rank.rank, rank.local_rank, escape_html(rank.host, 100),
      escape_html(rank.slot, 100), escape_html(rank.planned_pus, 200));
  if (run.verified)
    text +=
        fmt::format("<td>{}</td><td>{}{}{}</td>", escape_html(rank.found_pus, 200),
                    escape_html(rank.verdict, 20), rank.why.empty() ? "" : ": ", escape_html(rank.why, 200));
  if (run.watched)
    text += fmt::format("<td>{}</td>", rank.exit_status ? fmt::format("{}", *rank.exit_status) : "");
  return text + "</tr>\n";
}

// A picture's own styles would hold for the whole page: its selectors are made to mean only what is in it.
void keep_styles_inside(std::string& svg) {
  constexpr std::string_view begin_style = "<style>";
  std::size_t at = svg.find(begin_style);
  const std::size_t last = svg.find("</style>");
  if (at == std::string::npos || last == std::string::npos || last < at) return;
  at += begin_style.size();
  const std::string rules = svg.substr(at, last - at);
  std::string scoped;
  for (const std::string_view rule : split(rules, '}')) {
    if (!trim(rule).empty()) scoped += fmt::format(".machine {}}}", trim(rule));
  }
  svg.replace(at, rules.size(), scoped);
  svg.insert(svg.find("<svg") + 4, " class=\"machine\"");
}

// "<svg" of a file inside a page: no declaration, no name space.
std::string inline_svg(std::string_view svg) {
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string_view::npos) return {};
  std::string text(svg.substr(begin));
  constexpr std::string_view name_space = " xmlns=\"http://www.w3.org/2000/svg\"";
  if (const std::size_t at = text.find(name_space); at != std::string::npos)
    text.erase(at, name_space.size());
  keep_styles_inside(text);
  return text;
}

ChartLine step_line(std::string name, std::string colour, const std::vector<TrainingStep>& steps,
                    double TrainingStep::*value) {
  ChartLine line{std::move(name), std::move(colour), {}, false};
  for (const TrainingStep& step : steps) line.points.emplace_back(step.step, step.*value);
  return line;
}

ChartLine epoch_line(std::string name, std::string colour, const std::vector<TrainingEpoch>& epochs,
                     double TrainingEpoch::*value) {
  ChartLine line{std::move(name), std::move(colour), {}, true};
  for (const TrainingEpoch& epoch : epochs) line.points.emplace_back(epoch.step, epoch.*value);
  return line;
}

}  // namespace

std::string render_result_section(const ReportInput& input) {
  const RunRecord& run = input.run;
  std::string text = render_state(input.state);
  if (input.standstill) text += render_standstill(*input.standstill);
  // Ranks that are ended because of a stall may fail meanwhile.
  if (run.watched && !run.watched->stall.empty())
    text +=
        fmt::format("<p><b>Ended because of a stall</b>: {}.</p>\n", escape_html(run.watched->stall, 600));
  else if (const RunFailure* failure = run.first_failure())
    text += render_failure(*failure);
  if (run.watched) text += render_list(stall_lines(*run.watched));
  if (!input.first_lines.empty())
    text += fmt::format("<h3>The last lines of {}</h3>\n", escape_html(input.first_log, 400)) +
            render_lines(input.first_lines);
  if (!run.diagnosis.empty())
    text += "<h3>What the output says</h3>\n<pre>" + escape_html(run.diagnosis, 8000, true) + "</pre>\n";
  if (!run.last_lines.empty() && input.first_lines.empty())
    text += "<h3>The last lines of stderr</h3>\n" + render_lines(run.last_lines);
  if (!run.findings.empty()) text += "<h3>The rankfile's linter</h3>\n" + render_list(run.findings);
  return text.empty() ? text : "<h2>What happened</h2>\n" + text;
}

std::string render_facts_section(const ReportInput& input) {
  const RunRecord& run = input.run;
  std::string text = "<h2>The run</h2>\n<dl>\n";
  text += fact("run", run.id) + fact("directory", input.directory) + fact("repeats", run.replay_of);
  text += fact("started", run.start) + fact("ended", run.end ? run.end->time : "");
  text += fact("hosts", fold_host_list(run.hosts, 1500)) + fact("started from", run.host);
  text += fact("working directory", run.workdir) + fact("network", run.network);
  text += fact("output", run.output);
  text += fact(run.launcher.empty() ? "mpirun" : run.launcher,
               run.mpirun_version + (run.mpirun.empty() ? "" : " (" + run.mpirun + ")"));
  text += fact("ddlrun", run.ddlrun_version) + fact("kernel", run.kernel);
  if (!run.result.empty()) {
    text += fmt::format("<dt>result of rank 0</dt><dd><a href=\"{}\">{}</a></dd>\n",
                        render_file_link(run.result), escape_html(run.result, 1000));
  }
  if (!input.timeline.empty()) {
    text += fmt::format(
        "<dt>timeline</dt><dd><a href=\"{}\">{}</a> (open it in Perfetto or chrome://tracing)</dd>\n",
        render_file_link(input.timeline), escape_html(input.timeline, 1000));
  }
  text += "</dl>\n";
  text += render_job_runs(input.job_runs);
  if (!input.command_line.empty())
    text += "<h3>Started as</h3>\n<pre>" + escape_html(input.command_line, 20000, true) + "</pre>\n";
  if (!run.remarks.empty()) text += "<h3>Decided for you</h3>\n" + render_list(run.remarks);
  if (!input.notes.empty()) text += "<h3>Not in this page</h3>\n" + render_list(input.notes);
  return text;
}

std::string render_training_section(const ReportInput& input) {
  if (!input.training) return {};
  const Training& training = *input.training;
  const auto steps = thin_out(training.steps, most_points);
  Chart loss{"loss",
             "step",
             {step_line("training", "#4878a8", steps, &TrainingStep::loss),
              epoch_line("test", "#d9822b", training.epochs, &TrainingEpoch::test_loss)}};
  Chart speed{
      "images/s", "step", {step_line("all ranks", "#4878a8", steps, &TrainingStep::images_per_second)}};
  Chart accuracy{"accuracy on the test images",
                 "step",
                 {epoch_line("test", "#d9822b", training.epochs, &TrainingEpoch::test_accuracy)}};
  std::string text = "<h2>Training</h2>\n";
  text += fmt::format("<p>{} on {}: {} steps, {} epochs. <span class=\"quiet\">From {}</span></p>\n",
                      escape_html(training.net, 100), escape_html(training.data, 200), training.steps.size(),
                      training.epochs.size(), escape_html(input.metrics_file, 400));
  if (training.damaged_lines > 0)
    text += fmt::format("<p>Lines without a usable record: {}.</p>\n", training.damaged_lines);
  text += "<div class=\"charts\">\n";
  for (const Chart* chart : {&loss, &speed, &accuracy}) text += render_chart_svg(*chart);
  return text + "</div>\n";
}

std::string render_usage_section(const ReportInput& input) {
  if (!input.usage) return {};
  static constexpr std::array colours{"#4878a8", "#d9822b", "#4f7f3a", "#b0413e", "#7a5195", "#8a6d1d"};
  static_assert(colours.size() == most_single_ranks);
  Chart cores{"cores that were busy", "seconds", {}}, memory{"memory, MiB", "seconds", {}};
  const UsageTimeline& usage = *input.usage;
  for (std::size_t i = 0; i < std::min(usage.series.size(), colours.size()); ++i) {
    const UsageSeries& series = usage.series[i];
    ChartLine busy{series.name, colours[i], {}, false}, resident = busy;
    for (std::size_t at = 0; at < usage.seconds.size(); ++at) {
      busy.points.emplace_back(usage.seconds[at], series.cores[at]);
      resident.points.emplace_back(usage.seconds[at], series.mib[at]);
    }
    cores.lines.push_back(std::move(busy));
    memory.lines.push_back(std::move(resident));
  }
  return "<h2>Use of cores and memory</h2>\n<div class=\"charts\">\n" + render_chart_svg(cores) +
         render_chart_svg(memory) + "</div>\n";
}

std::string render_plan_section(const ReportInput& input) {
  std::string text = render_ranks_svg(input.run);
  for (const ReportPicture& picture : input.machines)
    text += fmt::format("<h3>{}</h3>\n", escape_html(picture.title, 300)) + inline_svg(picture.svg);
  return text.empty() ? text : "<h2>The plan</h2>\n" + text;
}

std::string render_ranks_section(const ReportInput& input) {
  const RunRecord& run = input.run;
  if (run.ranks.empty()) return {};
  const auto ranks = chosen_ranks(run);
  std::string text = "<h2>Each rank's place</h2>\n";
  const auto odd =
      std::count_if(run.ranks.begin(), run.ranks.end(), [](auto& rank) { return rank.verdict != "ok"; });
  if (run.verified)
    text += fmt::format("<p>Planned places, and places as each rank reported them: {} of {} match.</p>\n",
                        run.ranks.size() - static_cast<std::size_t>(odd), run.ranks.size());
  else
    text += "<p>As planned; the ranks were not asked (--verify asks them).</p>\n";
  if (ranks.size() < run.ranks.size())
    text += fmt::format("<p>{} of {} ranks are listed, those with something odd first.</p>\n", ranks.size(),
                        run.ranks.size());
  text +=
      "<div class=\"scroll\"><table>\n<tr><th>rank</th><th>local</th><th>host</th><th>slot</th><th>planned "
      "PUs</th>";
  if (run.verified) text += "<th>found PUs</th><th>verdict</th>";
  if (run.watched) text += "<th>exit</th>";
  text += "</tr>\n";
  for (const RunRank* rank : ranks) text += render_rank_row(run, *rank);
  return text + "</table></div>\n";
}

std::string render_exports_section(const ReportInput& input) {
  const RunRecord& run = input.run;
  if (run.exported.empty()) return {};
  std::string text =
      "<h2>Variables that reach the ranks</h2>\n<p class=\"quiet\">By name; values are not kept."
      "</p>\n<table>\n<tr><th>name</th><th>why</th></tr>\n";
  for (const std::string& name : run.exported) {
    const auto reason = std::find_if(run.reasons.begin(), run.reasons.end(),
                                     [&](const auto& entry) { return entry.subject == "-x " + name; });
    text += fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", escape_html(name, 100),
                        reason == run.reasons.end() ? "" : escape_html(reason->why, 400));
  }
  return text + "</table>\n";
}

}  // namespace ddlrun::launch
