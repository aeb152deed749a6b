// SPDX-License-Identifier: MIT
#include "cli/candidate_sources.hpp"

#include "base/os/configuration_path.hpp"
#include "base/os/program_path.hpp"
#include "base/os/state_directory.hpp"
#include "base/text/error.hpp"
#include "base/text/known_hosts.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/model/check.hpp"
#include "doctor/report/baseline.hpp"
#include "launch/history/run_store.hpp"
#include "schedulers/client/history.hpp"
#include "schedulers/client/site_files.hpp"
#include "schedulers/scripts/lint_examples.hpp"

#include <set>

namespace ddlrun::cli {

namespace {

constexpr std::size_t most_hosts = 5000;
constexpr std::size_t most_jobs = 100;
constexpr std::uint64_t most_file_bytes = 4u << 20;
constexpr std::chrono::milliseconds scheduler_limit{1000};

std::string read_if_there(System& system, const std::string& path) {
  try {
    return system.files.exists(path) ? system.files.read(path, most_file_bytes) : std::string();
  } catch (const Error&) {
    return {};
  }
}

std::vector<Candidate> find_hosts(System& system) {
  std::vector<std::string> names;
  const auto take = [&](const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  const std::string ssh = system.environment.get("HOME") + "/.ssh/";
  for (const std::string& config : {ssh + "config", std::string("/etc/ssh/ssh_config")})
    take(parse_ssh_hosts(read_if_there(system, config), most_hosts));
  for (const std::string& keys : {ssh + "known_hosts", std::string("/etc/ssh/ssh_known_hosts")})
    take(parse_known_hosts(read_if_there(system, keys), most_hosts));
  take(parse_hosts_table(read_if_there(system, "/etc/hosts"), most_hosts));
  std::vector<Candidate> hosts;
  for (const std::string& name : names)
    if (!name.starts_with("ip6-")) hosts.push_back({name});
  return hosts;
}

std::vector<Candidate> find_queues(System& system) {
  std::vector<Command> commands;
  if (!find_program(system, "sinfo").empty()) commands.push_back({"sinfo", "-h", "-o", "%R"});
  const std::size_t own = commands.size();
  if (!find_program(system, "qstat").empty()) commands.push_back({"qstat", "-Q"});
  ProcessLimits limits;
  limits.timeout = scheduler_limit;
  limits.output_bytes = most_file_bytes;
  std::vector<Candidate> queues;
  const auto results = system.processes.run_many(commands, limits, 2);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) continue;
    if (i >= own) {
      for (const std::string& name : parse_queue_table(results[i].out)) queues.push_back({name, "queue"});
      continue;
    }
    for (const std::string_view line : split(results[i].out, '\n'))
      queues.push_back({std::string(trim(line)), "partition"});
  }
  return queues;
}

std::vector<Candidate> find_jobs(System& system) {
  const std::string path = find_own_state_directory(system, "jobs", "export HOME") + "/jobs.sqlite";
  std::vector<Candidate> jobs;
  if (!system.files.exists(path)) return jobs;
  for (const schedulers::JobEntry& job : schedulers::open_job_history(path)->recent(most_jobs))
    jobs.push_back({job.id, job.name});
  return jobs;
}

std::vector<Candidate> find_runs(System& system) {
  std::vector<Candidate> runs;
  for (const launch::ListedRun& run : launch::list_runs(system)) runs.push_back({run.id});
  return runs;
}

// Ids, and subjects such as LIM, which mean all of theirs.
std::vector<Candidate> list_checks() {
  std::vector<Candidate> checks;
  std::set<std::string> subjects;
  std::vector<doctor::Check> all = doctor::all_checks();
  all.push_back(doctor::baseline_check());
  for (const doctor::Check& check : all) {
    checks.push_back({std::string(check.id), std::string(check.title)});
    subjects.insert(std::string(check.id.substr(0, check.id.find('-'))));
  }
  for (const std::string& subject : subjects) checks.push_back({subject, "all checks of " + subject});
  return checks;
}

std::string_view trim_quotes(std::string_view text) {
  const bool quoted = text.size() > 1 && text.front() == text.back() && (text[0] == '\'' || text[0] == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// By the lines of the files: reading them as signatures takes a third of a second.
std::vector<Candidate> list_signatures() {
  std::vector<Candidate> ids;
  for (const diagnose::SignatureFile& file : diagnose::builtin_signature_files()) {
    bool is_signature = false;  // a file may have other lists beside `signatures:`
    for (const std::string_view line : split(file.text, '\n')) {
      constexpr std::string_view id = "- id: ", title = "  title: ";
      if (!line.empty() && line[0] >= 'a' && line[0] <= 'z') is_signature = line.starts_with("signatures:");
      if (!is_signature) continue;
      if (line.starts_with(id)) ids.push_back({std::string(trim(line.substr(id.size())))});
      if (!ids.empty() && ids.back().help.empty() && line.starts_with(title))
        ids.back().help = trim_quotes(trim(line.substr(title.size())));
    }
  }
  return ids;
}

std::vector<Candidate> list_lint_rules() {
  std::vector<Candidate> rules;
  const std::string text = job_scripts::list_rules();
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_blanks(line);
    if (!words.empty() && !line.starts_with(' ')) rules.push_back({std::string(words[0])});
  }
  return rules;
}

std::vector<Candidate> find_unchecked(System& system, std::string_view source) {
  std::vector<Candidate> found;
  if (source == "hosts") return find_hosts(system);
  if (source == "queues") return find_queues(system);
  if (source == "runs") return find_runs(system);
  if (source == "jobs") return find_jobs(system);
  if (source == "checks") return list_checks();
  if (source == "signatures") return list_signatures();
  if (source == "rules") return list_lint_rules();
  if (source == "profiles")
    for (const std::string& name : schedulers::list_sites(system)) found.push_back({name});
  if (source == "templates")
    for (const std::string& name : list_configuration_names(system, "templates", "")) found.push_back({name});
  if (source == "variables")
    for (const auto& [name, value] : system.environment.variables) found.push_back({name});
  return found;
}

}  // namespace

std::vector<Candidate> find_candidates(System& system, std::string_view source) {
  try {
    return find_unchecked(system, source);
  } catch (const Error&) {
    return {};
  }
}

std::vector<std::string> parse_queue_table(std::string_view text) {
  std::vector<std::string> names;
  bool is_below = false;  // the line of dashes
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_blanks(line);
    if (words.empty()) continue;
    if (is_below) names.emplace_back(words[0]);
    is_below = is_below || words[0].starts_with("---");
  }
  return names;
}

}  // namespace ddlrun::cli
