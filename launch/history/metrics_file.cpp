// SPDX-License-Identifier: MIT
#include "launch/history/metrics_file.hpp"

#include "base/os/host_info.hpp"
#include "launch/history/run_store.hpp"

namespace ddlrun::launch {

namespace {

// A file of the program's that another run has written since is not this run's.
bool is_of_this_run(System& system, const RunRecord& run, const std::string& path) {
  if (system.kernel == nullptr) return true;
  const auto info = system.kernel->file_info(path, true);
  if (!info) return true;
  const auto start = parse_run_time(run.start);
  const auto end = run.end ? parse_run_time(run.end->time) : std::nullopt;
  return (!start || info->modified_seconds >= *start) && (!end || info->modified_seconds <= *end + 2);
}

std::string word_after(const std::vector<std::string>& words, const std::string& name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(name + "=")) return words[i].substr(name.size() + 1);
  }
  return {};
}

}  // namespace

std::string named_file(const RunRecord& run, const std::string& option) {
  const std::string word = word_after(run.program, option);
  return word.empty() || word.starts_with('/') ? word : run.workdir + "/" + word;
}

MetricsFile find_metrics_file(System& system, const RunRecord& run, const std::string& directory) {
  const std::string named = named_file(run, "--metrics");
  if (named.empty()) {
    const std::string own = directory + "/metrics.jsonl";
    return {system.files.exists(own) ? own : "", ""};
  }
  if (!system.files.exists(named)) return {"", "there is no " + named};
  if (!is_of_this_run(system, run, named)) return {"", "another run has written " + named + " since"};
  return {named, ""};
}

}  // namespace ddlrun::launch
