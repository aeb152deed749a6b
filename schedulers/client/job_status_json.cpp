// SPDX-License-Identifier: MIT
#include "schedulers/client/job_status_json.hpp"

#include "base/text/utf8.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/scheduler_access.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::schedulers {

namespace {

using nlohmann::ordered_json;

ordered_json status_fields(const JobStatus& status) {
  ordered_json fields;
  fields["id"] = status.id;
  fields["state"] = name_of(status.state);
  fields["over"] = is_over(status.state);
  fields["word"] = status.word;
  fields["exit_status"] = status.exit_status ? ordered_json(*status.exit_status) : ordered_json(nullptr);
  fields["wait_status"] = is_over(status.state) ? ordered_json(exit_status_of(status))
                                                : ordered_json(nullptr);  // what wait gives
  fields["signal"] = status.signal;
  fields["reason"] = status.reason;
  fields["explained"] = status.explained;
  fields["never"] = status.never;
  fields["remedy"] = status.remedy;
  fields["hosts"] = status.hosts;
  fields["queue"] = status.queue;
  fields["run_seconds"] = status.run_seconds ? ordered_json(*status.run_seconds) : ordered_json(nullptr);
  fields["restarts"] = status.restarts;
  return fields;
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

}  // namespace

std::string render_status_json(const std::vector<JobAndStatus>& jobs) {
  ordered_json document;
  document["schema"] = "ddlrun.status/1";
  document["jobs"] = ordered_json::array();
  for (const auto& [job, status] : jobs) {
    ordered_json entry = status_fields(status);
    entry["id"] = job.id;
    if (status.queue.empty()) entry["queue"] = job.queue;
    entry["scheduler"] = name_of(job.scheduler);
    entry["name"] = text_or_null(job.name.empty() ? status.name : job.name);
    entry["directory"] = text_or_null(job.dir);
    entry["log"] = text_or_null(job.submitted_here() ? job.output : status.output);
    entry["submitted"] = text_or_null(job.submitted);
    entry["tasks"] = ordered_json::array();
    for (const JobStatus& task : status.tasks) entry["tasks"].push_back(status_fields(task));
    document["jobs"].push_back(std::move(entry));
  }
  return escape_json(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::schedulers
