// SPDX-License-Identifier: MIT
#include "launch/history/report_html.hpp"

#include "base/text/svg.hpp"
#include "base/text/text.hpp"
#include "launch/history/report_sections.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 28px 40px; max-width: 1160px; color: #222; background: #fff;
  font: 15px/1.5 "DejaVu Sans", "Segoe UI", Arial, sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 34px 0 10px; padding-bottom: 4px; border-bottom: 1px solid #ddd; }
h3 { font-size: 15px; margin: 18px 0 6px; }
p { margin: 6px 0; }
.quiet { color: #666; }
.badge { display: inline-block; padding: 2px 10px; border-radius: 4px; color: #fff; font-weight: bold; }
.good { background: #4f7f3a; } .bad { background: #b0413e; } .open { background: #8a6d1d; }
code, pre { font: 13px/1.45 "DejaVu Sans Mono", Consolas, monospace; }
pre { background: #f6f6f4; border: 1px solid #e2e2de; border-radius: 4px; padding: 10px 12px; margin: 6px 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: 190px 1fr; gap: 3px 16px; margin: 8px 0; }
dt { color: #666; } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: 13px; margin: 8px 0; }
th, td { text-align: left; padding: 3px 12px 3px 8px; border-bottom: 1px solid #e6e6e6; vertical-align: top;
  overflow-wrap: anywhere; }
th { background: #f3f3f0; }
tr.odd td { background: #fbeeee; }
ul { margin: 6px 0; padding-left: 22px; }
.scroll { max-height: 460px; overflow: auto; border: 1px solid #e6e6e6; }
.scroll table { margin: 0; width: 100%; } .scroll th { position: sticky; top: 0; }
.charts { display: flex; flex-wrap: wrap; gap: 12px; }
svg { max-width: 100%; height: auto; font-family: "DejaVu Sans", Arial, sans-serif; }
footer { margin-top: 36px; color: #666; font-size: 13px; }
@media print { .scroll { max-height: none; overflow: visible; } }
)";

std::string badge(const ReportInput& input) {
  HistoryRow row;
  row.state = input.state;
  if (input.run.end) row.exit_status = input.run.end->exit_status;
  row.cancelled = input.run.end && input.run.end->is_cancelled();
  row.saved = input.run.end && input.run.end->is_saved();
  const bool good = input.state == RunState::ended && (row.exit_status == 0 || row.saved);
  const std::string_view kind = good ? "good" : row.failed() ? "bad" : "open";
  return fmt::format("<span class=\"badge {}\">{}</span>", kind, escape_html(status_words(row)));
}

std::string render_head(const ReportInput& input) {
  const RunRecord& run = input.run;
  std::string text =
      fmt::format("<h1>{}</h1>\n<p>{}", escape_html(program_title(run.program), 300), badge(input));
  if (!run.dims.empty()) text += fmt::format(" &nbsp; {}", escape_html(run.dims, 40));
  text += fmt::format(" &nbsp; {} rank{} on {} host{}", run.rank_count, run.rank_count == 1 ? "" : "s",
                      run.hosts.size(), run.hosts.size() == 1 ? "" : "s");
  if (input.seconds) text += fmt::format(" &nbsp; {} after", render_duration(*input.seconds));
  return text + fmt::format(" {}</p>\n", escape_html(run.start, 40));
}

}  // namespace

std::string render_report_html(const ReportInput& input) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      escape_html(program_title(input.run.program) + ", run " + input.run.id, 160), style);
  html += render_head(input);
  html += render_result_section(input);
  html += render_facts_section(input);
  html += render_training_section(input);
  html += render_usage_section(input);
  html += render_plan_section(input);
  html += render_ranks_section(input);
  html += render_exports_section(input);
  return html + fmt::format("<footer>{}</footer>\n</body>\n</html>\n", escape_html(input.made, 200));
}

}  // namespace ddlrun::launch
