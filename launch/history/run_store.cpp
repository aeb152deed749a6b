// SPDX-License-Identifier: MIT
#include "launch/history/run_store.hpp"

#include "base/os/host_info.hpp"
#include "base/os/state_directory.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/launch_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr unsigned most_starts = 1001;  // --max-restarts takes 1000

// The second in which a run's directory was named, by the directory's own name.
std::string_view second_of(const std::string& directory) {
  return std::string_view(directory).substr(
      0, directory.rfind('/') + 1 + std::string_view("20261121-031914").size());
}

// When the run began; 0 if unknown.
std::int64_t read_start(System& system, const std::string& directory) {
  try {
    return system.files.exists(directory + "/run.json") ? read_run(system, directory, false).start_us : 0;
  } catch (const Error&) {
    return 0;
  }
}

// Those of one second by their records: the names say no more.
void order_within_seconds(System& system, std::vector<std::string>& directories) {
  for (auto begin = directories.begin(); begin != directories.end();) {
    const auto end = std::find_if(begin, directories.end(), [&](const std::string& directory) {
      return second_of(directory) != second_of(*begin);
    });
    if (end - begin > 1) {
      std::vector<std::pair<std::int64_t, std::string>> known;
      for (auto at = begin; at != end; ++at) known.emplace_back(read_start(system, *at), *at);
      std::sort(known.rbegin(), known.rend());
      std::transform(known.begin(), known.end(), begin, [](const auto& entry) { return entry.second; });
    }
    begin = end;
  }
}

[[noreturn]] void refuse_run(const std::string& word, const std::string& what) {
  throw Error(ErrorKind::request, {what, printable(word, 80), "ddlrun history   # lists the runs"});
}

}  // namespace

std::vector<std::string> list_run_directories(System& system) {
  const std::string base =
      find_state_directory(system.environment, "the list of runs", "export HOME=/home/you") + "/runs";
  std::vector<std::string> directories;
  if (system.kernel == nullptr) return directories;
  for (const std::string& name : system.kernel->list_directory(base)) {
    if (name != "." && name != "..") directories.push_back(base + "/" + name);
  }
  std::sort(directories.rbegin(), directories.rend());  // names begin with the time
  order_within_seconds(system, directories);
  return directories;
}

std::string find_run_directory(System& system, const std::string& word) {
  if (system.files.exists(word + "/run.json")) return word;
  if (word.find('/') != std::string::npos) refuse_run(word, "there is no run in this directory: no run.json");
  const std::vector<std::string> directories = list_run_directories(system);
  if (directories.empty()) refuse_run(word, "there are no runs yet");
  if (word == "last") return directories.front();
  std::vector<std::string> found;
  for (const std::string& directory : directories) {
    const std::string_view name = base_name(directory);
    if (name == word) return directory;
    if (name.starts_with(word)) found.push_back(directory);
  }
  if (found.empty()) refuse_run(word, "no run has an ID that begins with this");
  if (found.size() == 1) return found.front();
  const std::string more = found.size() > 2 ? fmt::format(" and {} more", found.size() - 2) : "";
  refuse_run(word, fmt::format("{} runs have an ID that begins with this: {}, {}{}", found.size(),
                               base_name(found[0]), base_name(found[1]), more));
}

std::string find_original_run(System& system, const std::string& directory) {
  std::string first = directory;
  for (unsigned starts = 0; starts < most_starts; ++starts) {
    const std::string before = read_run(system, first, false).restart_of;
    if (before.empty()) return first;
    const std::size_t slash = first.rfind('/');
    const std::string sibling = slash == std::string::npos ? before : first.substr(0, slash + 1) + before;
    if (before.find('/') != std::string::npos || !system.files.exists(sibling + "/run.json")) {
      throw Error(ErrorKind::request,
                  {fmt::format("this run was restarted from {}, whose record no longer exists",
                               printable(before, 80)),
                   first, "head -1 " + quote_shell(first + "/argv") + "   # what it ran"});
    }
    first = sibling;
  }
  refuse_run(directory, "the record of this run is damaged: it names no first start");
}

RunRecord read_run(System& system, const std::string& directory, bool with_ranks) {
  const std::string path = directory + "/run.json";
  return parse_run_json(system.files.read(path, max_run_json_bytes), path, with_ranks);
}

RunState find_run_state(System& system, const RunRecord& run) {
  if (run.end) return RunState::ended;
  if (run.process.pid == 0 || run.host != system.environment.host_name) return RunState::elsewhere;
  const RunProcess now = read_run_process(system, fmt::format("{}", run.process.pid));
  const RunProcess own = read_run_process(system, "self");
  const bool same_boot = own.boot == run.process.boot;
  return same_boot && now.pid != 0 && now.started_ticks == run.process.started_ticks ? RunState::running
                                                                                     : RunState::unseen;
}

}  // namespace ddlrun::launch
