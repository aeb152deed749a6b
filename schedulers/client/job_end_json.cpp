// SPDX-License-Identifier: MIT
#include "base/text/utf8.hpp"
#include "schedulers/client/job_end.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::schedulers {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view end_schema = "ddlrun.end/1";

ordered_json end_fields(const JobStatus& end) {
  ordered_json fields;
  fields["id"] = end.id;
  fields["state"] = name_of(end.state);
  fields["word"] = end.word;
  if (end.exit_status) fields["exit_status"] = *end.exit_status;
  fields["signal"] = end.signal;
  fields["reason"] = end.reason;
  fields["explained"] = end.explained;
  fields["hosts"] = end.hosts;
  fields["queue"] = end.queue;
  if (end.run_seconds) fields["run_seconds"] = *end.run_seconds;
  fields["restarts"] = end.restarts;
  fields["at_limit"] = end.at_limit;
  return fields;
}

JobStatus end_of(const nlohmann::json& fields) {
  JobStatus end;
  end.id = fields.at("id").get<std::string>();
  end.state = parse_job_state(fields.at("state").get<std::string>()).value_or(JobState::unknown);
  end.word = fields.value("word", "");
  if (const auto status = fields.find("exit_status"); status != fields.end())
    end.exit_status = status->get<int>();
  end.signal = fields.value("signal", 0);
  end.reason = fields.value("reason", "");
  end.explained = fields.value("explained", "");
  end.hosts = fields.value("hosts", "");
  end.queue = fields.value("queue", "");
  if (const auto seconds = fields.find("run_seconds"); seconds != fields.end())
    end.run_seconds = seconds->get<std::uint64_t>();
  end.restarts = fields.value("restarts", 0);
  end.at_limit = fields.value("at_limit", false);
  return end;
}

}  // namespace

std::string render_job_ends(const JobEnds& ends) {
  ordered_json document;
  document["schema"] = end_schema;
  document["ends"] = ordered_json::array();
  for (const auto& [id, end] : ends) document["ends"].push_back(end_fields(end));
  return escape_json(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n";
}

JobEnds parse_job_ends(std::string_view text) {
  try {
    const auto document = nlohmann::json::parse(text);
    if (document.at("schema") != end_schema) return {};
    JobEnds ends;
    for (const auto& fields : document.at("ends")) {
      JobStatus end = end_of(fields);
      if (is_over(end.state)) ends.insert_or_assign(end.id, std::move(end));
    }
    return ends;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace ddlrun::schedulers
