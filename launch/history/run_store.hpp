// SPDX-License-Identifier: MIT
// Runs that were, by what people call them: an id, the beginning of one, a directory, `last`.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/history.hpp"
#include "launch/history/run_record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct ListedRun {
  std::string id;         // in the list: DATE-TIME-XXXXXX
  std::string directory;  // of the run: in the state directory, or elsewhere (--run-dir, a job's)
};

// By their start, newest first. Error{request} where there is no state directory.
std::vector<ListedRun> list_runs(System& system);

// Puts a run whose directory is elsewhere into the list. A list that cannot be written is no error: the run
// itself is complete.
void add_to_list(System& system, const std::string& directory);

// Removes runs that began before `before` (seconds since 1970) from the list, with their directories where
// those are in the state directory; running ones stay. Returns how many.
std::size_t prune_runs(System& system, std::int64_t before);

// The run's directory; `word` may also be the id of the job that started it. A path has a slash.
// Error{request} where none is meant, or several are.
std::string find_run_directory(System& system, const std::string& word);

// Of the runs in the list that the job started, oldest first; `job` is its id, or its number alone.
std::vector<std::string> list_run_directories(System& system, const std::string& job);
// The directories of the runs in the list that have this name, as `--run-dir` and a job's script give it;
// newest first.
std::vector<std::string> find_named_runs(System& system, const std::string& name);

// The directory of the first start where this one came after a bad end, else itself. Error{request} where it
// is gone.
std::string find_original_run(System& system, const std::string& directory);

// Error{request} for a damaged one.
RunRecord read_run(System& system, const std::string& directory, bool with_ranks);

// Running only if the very process that wrote the record still is: a number alone says nothing.
RunState find_run_state(System& system, const RunRecord& run);

}  // namespace ddlrun::launch
