// SPDX-License-Identifier: MIT
#include "launch/history/run_store.hpp"

#include "base/os/host_info.hpp"
#include "base/os/remove_tree.hpp"
#include "base/os/state_directory.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/launch_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace ddlrun::launch {

namespace {

constexpr unsigned most_starts = 1001;  // --max-restarts takes 1000

constexpr std::string_view link_name = "/directory";  // holds the path of a run that is elsewhere
constexpr std::uint64_t most_path_bytes = 8192;
constexpr std::int64_t longest_run_seconds = 30 * 86400;  // on a host that this one cannot look at

std::string list_directory_of(System& system) {
  return find_own_state_directory(system, "the list of runs", "export HOME=/home/you") + "/runs";
}

// The second in which a run's directory was named, by its id.
std::string_view second_of(const std::string& id) {
  return std::string_view(id).substr(0, std::string_view("20261121-031914").size());
}

// "" where the entry's run is gone.
std::string resolve_entry(System& system, const std::string& entry) {
  const std::string link = entry + std::string(link_name);
  if (!system.files.exists(link)) return entry;
  try {
    const std::string directory(trim(system.files.read(link, most_path_bytes)));
    return system.files.exists(directory + "/run.json") ? directory : std::string();
  } catch (const Error&) {
    return {};
  }
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
void order_within_seconds(System& system, std::vector<ListedRun>& runs) {
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end = std::find_if(
        begin, runs.end(), [&](const ListedRun& run) { return second_of(run.id) != second_of(begin->id); });
    if (end - begin > 1) {
      std::vector<std::pair<std::int64_t, ListedRun>> known;
      for (auto at = begin; at != end; ++at) known.emplace_back(read_start(system, at->directory), *at);
      std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) {
        return std::tie(a.first, a.second.id) > std::tie(b.first, b.second.id);
      });
      std::transform(known.begin(), known.end(), begin, [](const auto& entry) { return entry.second; });
    }
    begin = end;
  }
}

std::vector<std::string> list_entries(System& system, const std::string& base) {
  std::vector<std::string> names;
  if (system.kernel == nullptr) return names;
  for (const std::string& name : system.kernel->list_directory(base)) {
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.rbegin(), names.rend());  // names begin with the time
  return names;
}

// Whether the run began before `before` and does not run any more.
bool may_be_pruned(System& system, const std::string& id, const std::string& directory, std::int64_t before) {
  const auto named = parse_name_time(id);
  if (!named || *named >= before) return false;
  if (directory.empty() || !system.files.exists(directory + "/run.json")) return true;
  try {
    const RunState state = find_run_state(system, read_run(system, directory, false));
    if (state == RunState::elsewhere) return *named < before - longest_run_seconds;
    return state != RunState::running;
  } catch (const Error&) {
    return true;  // damaged
  }
}

// `word`: a job's id, or its number alone: "4711" of 4711.pbs01.
bool is_run_of_job(System& system, const std::string& directory, const std::string& word) {
  try {
    const std::string job = read_run(system, directory, false).job;
    const auto number = [](std::string_view id) { return id.substr(0, id.find_first_of(".-")); };
    const bool is_task_of = job.substr(0, job.find('_')) == word;  // Slurm's array: 9_1 of 9
    return !job.empty() && (job == word || number(job) == word || job == number(word) || is_task_of);
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void refuse_run(const std::string& word, const std::string& what) {
  throw Error(ErrorKind::request, {what, printable(word, 80), "ddlrun history   # lists the runs"});
}

std::vector<std::string> find_named(const std::vector<ListedRun>& runs, const std::string& name) {
  std::vector<std::string> named;
  for (const ListedRun& run : runs)
    // A directory that was removed and made again is listed twice.
    if (base_name(run.directory) == name && std::ranges::find(named, run.directory) == named.end())
      named.push_back(run.directory);
  return named;
}

[[noreturn]] void refuse_unknown_run(System& system, const std::string& word, const std::string& what) {
  if (!system.files.exists(word + "/run.json")) refuse_run(word, what);
  throw Error(ErrorKind::request, {what, printable(word, 80),
                                   quote_shell("./" + word) + "   # the run in the directory of that name"});
}

}  // namespace

std::vector<ListedRun> list_runs(System& system) {
  const std::string base = list_directory_of(system);
  std::vector<ListedRun> runs;
  for (const std::string& name : list_entries(system, base)) {
    std::string directory = resolve_entry(system, base + "/" + name);
    if (!directory.empty()) runs.push_back({name, std::move(directory)});
  }
  order_within_seconds(system, runs);
  return runs;
}

void add_to_list(System& system, const std::string& directory) {
  try {
    const std::string base = list_directory_of(system);
    system.files.make_directories(base);
    const std::string entry =
        system.files.make_directory(base + "/" + render_time_for_names(system.clock.now()) + "-");
    system.files.write(entry + std::string(link_name), system.environment.absolute(directory) + "\n");
  } catch (const Error&) {
    return;
  }
}

std::size_t prune_runs(System& system, std::int64_t before) {
  const std::string base = list_directory_of(system);
  std::size_t removed = 0;
  for (const std::string& name : list_entries(system, base)) {
    const std::string entry = base + "/" + name;
    if (!may_be_pruned(system, name, resolve_entry(system, entry), before)) continue;
    remove_tree(system, entry);
    ++removed;
  }
  return removed;
}

std::string find_run_directory(System& system, const std::string& word) {
  // A bare word is no path: a directory `last` of another user must not hide the newest run.
  if (word.find('/') != std::string::npos) {
    if (system.files.exists(word + "/run.json")) return word;
    refuse_run(word, "there is no run in this directory: no run.json");
  }
  const std::vector<ListedRun> runs = list_runs(system);
  if (runs.empty()) refuse_unknown_run(system, word, "there are no runs yet");
  if (word == "last") return runs.front().directory;
  std::vector<ListedRun> found;
  for (const ListedRun& run : runs) {
    if (run.id == word) return run.directory;
    if (run.id.starts_with(word)) found.push_back(run);
  }
  const std::vector<std::string> named = find_named(runs, word);
  if (!named.empty() && system.files.exists(word + "/run.json")) {
    std::string here = system.environment.absolute(word);
    if (std::ranges::find(named, here) != named.end()) return here;
    refuse_unknown_run(
        system, word,
        fmt::format("a run in another directory has this name: {}", printable(named.front(), 200)));
  }
  if (named.size() > 1)
    refuse_run(word, fmt::format("{} runs have a directory of this name: {}, {}", named.size(),
                                 printable(named[0], 200), printable(named[1], 200)));
  if (!named.empty()) return named.front();
  if (found.empty()) {
    for (const ListedRun& run : runs)
      if (is_run_of_job(system, run.directory, word)) return run.directory;
    refuse_unknown_run(system, word,
                       "no run has an ID that begins with this, and no run belongs to such a job");
  }
  if (found.size() == 1) return found.front().directory;
  const std::string more = found.size() > 2 ? fmt::format(" and {} more", found.size() - 2) : "";
  refuse_run(word, fmt::format("{} runs have an ID that begins with this: {}, {}{}", found.size(),
                               found[0].id, found[1].id, more));
}

std::vector<std::string> list_run_directories(System& system, const std::string& job) {
  std::vector<std::string> directories;
  for (const ListedRun& run : list_runs(system))
    if (is_run_of_job(system, run.directory, job)) directories.push_back(run.directory);
  std::ranges::reverse(directories);
  return directories;
}

std::vector<std::string> find_named_runs(System& system, const std::string& name) {
  return find_named(list_runs(system), name);
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
