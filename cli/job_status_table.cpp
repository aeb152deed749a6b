// SPDX-License-Identifier: MIT
#include "base/text.hpp"
#include "cli/job_end.hpp"
#include "cli/job_status_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::cli {

namespace {

using Row = std::array<std::string, 5>;

// The end in a column, as wait gives it: "0", "139", "124" of a time limit; "-" while there is none, or where
// nothing of the job ran.
std::string exit_text(const schedulers::JobStatus& status) {
  const bool failed_unrun =
      status.state == schedulers::JobState::failed && !status.exit_status && status.signal == 0;
  return schedulers::is_over(status.state) && !failed_unrun ? fmt::format("{}", exit_status_of(status)) : "-";
}

std::string remark(const schedulers::JobStatus& status) {
  std::string text;
  if (status.state == schedulers::JobState::running) {
    text = status.hosts;
  } else if (status.state != schedulers::JobState::completed) {
    text = status.explained.empty() ? status.reason : status.explained;
  }
  if (status.never) text += "; ddlrun cancel " + status.id + ", then " + status.remedy;
  if (status.restarts > 0) text += fmt::format("{}restart {}", text.empty() ? "" : "; ", status.restarts);
  return printable(text, 400);
}

Row row_of(const std::string& id, const std::string& name, const schedulers::JobStatus& status) {
  return {printable(id, 64), std::string(schedulers::name_of(status.state)), exit_text(status),
          name.empty() ? "-" : printable(name, 64), remark(status)};
}

std::string render_rows(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line += row[4];
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string render_status_table(const std::vector<JobAndStatus>& jobs) {
  std::vector<Row> rows{{"JOB", "STATE", "EXIT", "NAME", ""}};
  for (const auto& [job, status] : jobs) {
    rows.push_back(row_of(job.id, job.name, status));
    for (const auto& task : status.tasks) rows.push_back(row_of("  " + task.id, job.name, task));
  }
  return render_rows(rows);
}

std::string render_jobs_table(const std::vector<JobAndStatus>& jobs) {
  std::vector<Row> rows{{"JOB", "STATE", "EXIT", "NAME", "SUBMITTED (UTC)      FOLDER"}};
  for (const auto& [job, status] : jobs) {
    rows.push_back(row_of(job.id, job.name, status));
    rows.back()[4] = job.submitted + "  " + printable(job.folder, 400);
  }
  return render_rows(rows);
}

}  // namespace ddlrun::cli
