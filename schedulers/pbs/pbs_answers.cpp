// SPDX-License-Identifier: MIT
#include "schedulers/pbs/pbs_answers.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/scheduler_kinds.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace ddlrun::schedulers {

namespace {

bool is_server_character(unsigned char c) {
  return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':';
}

// "0", "3[]", "3[0]": the part before the server's name.
std::string_view before_server(std::string_view id) { return id.substr(0, id.find('.')); }

// "3[0]" -> "3"
std::string_view number_part(std::string_view id) { return id.substr(0, id.find_first_of("[.")); }

bool is_pbs_id(std::string_view id) {
  const std::string_view number = number_part(id);
  if (!parse_unsigned(number)) return false;
  std::string_view rest = id.substr(number.size());
  if (!rest.empty() && rest.front() == '[') {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return false;
    const std::string_view index = rest.substr(1, close - 1);
    if (!index.empty() && !parse_unsigned(index)) return false;
    rest.remove_prefix(close + 1);
  }
  if (rest.empty()) return true;
  return rest.front() == '.' && rest.size() > 1 && std::all_of(rest.begin(), rest.end(), is_server_character);
}

bool is_array(std::string_view id) { return id.find("[]") != std::string_view::npos; }

}  // namespace

std::string PbsJob::get(const std::string& name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string() : found->second;
}

std::optional<int> PbsJob::number(const std::string& name) const {
  const std::string text = get(name);
  const bool negative = !text.empty() && text.front() == '-';
  const auto value = parse_unsigned(std::string_view(text).substr(negative ? 1 : 0), 1u << 20);
  if (!value) return std::nullopt;
  return negative ? -static_cast<int>(*value) : static_cast<int>(*value);
}

std::optional<JobId> parse_qsub(std::string_view out) {
  for (const std::string_view line : split(out, '\n'))
    if (is_pbs_id(trim(line))) return JobId(trim(line));
  return std::nullopt;
}

std::vector<PbsJob> parse_qstat_text(std::string_view out) {
  constexpr std::string_view kHead = "Job Id:";
  std::vector<PbsJob> jobs;
  std::string* value = nullptr;  // that a folded line continues
  bool tabbed = false;           // Slurm's wrapper: a tab begins an attribute and never folds
  for (std::string_view line : split(out, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.substr(0, kHead.size()) == kHead) {
      jobs.push_back({JobId(trim(line.substr(kHead.size()))), {}});
      value = nullptr;
      continue;
    }
    if (jobs.empty() || trim(line).empty()) continue;
    if (jobs.back().attributes.empty()) tabbed = line.front() == '\t';
    const std::size_t equals = line.find(" = ");
    const bool indented = line.front() == ' ' || line.front() == '\t';
    const bool folded = (line.front() == '\t' && !tabbed) || !indented || equals == std::string_view::npos;
    if (folded) {
      if (value != nullptr) *value += line.front() == '\t' ? line.substr(1) : line;
      continue;
    }
    const std::string name(trim(line.substr(0, equals)));
    value = &jobs.back().attributes.emplace(name, line.substr(equals + 3)).first->second;
  }
  for (PbsJob& job : jobs) job.attributes.erase("Variable_List");
  return jobs;
}

std::vector<PbsJob>::const_iterator find_pbs_job(const JobId& id, const std::vector<PbsJob>& jobs) {
  return std::ranges::find_if(jobs, [&](const PbsJob& job) {
    // The server's name may be asked short and answered long.
    return job.id == id || before_server(job.id) == before_server(id);
  });
}

JobStatus status_of(const JobId& id, const std::vector<PbsJob>& jobs,
                    const std::function<JobStatus(const PbsJob& job)>& status, std::string_view unknown) {
  const auto found = find_pbs_job(id, jobs);
  std::vector<JobStatus> tasks;
  if (is_array(id))
    for (const PbsJob& job : jobs)
      if (!is_array(job.id) && number_part(job.id) == number_part(id) &&
          before_server(job.id) != number_part(id))
        tasks.push_back(status(job));
  if (found == jobs.end() && tasks.empty()) return unknown_job(id, std::string(unknown));
  if (tasks.empty()) {
    JobStatus one = status(*found);
    one.id = id;
    return one;
  }
  JobStatus joined = join_tasks(id, std::move(tasks));
  if (found == jobs.end()) return joined;
  const JobStatus parent = status(*found);
  joined.word = parent.word;
  // Tasks that were never made are not listed.
  if (is_over(joined.state) && !is_over(parent.state) && parent.state != JobState::unknown) {
    joined.state = parent.state;
    joined.exit_status.reset();
  }
  return joined;
}

}  // namespace ddlrun::schedulers
