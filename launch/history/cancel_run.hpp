// SPDX-License-Identifier: MIT
// Ends a run that still runs.
#pragma once

#include "base/os/system.hpp"

#include <string>

namespace ddlrun::launch {

// Whether the word has the form of a run's id, DATE-TIME-XXXXXX, or of its beginning, or is a directory.
bool names_run(const std::string& word);

struct Cancellation {
  bool was_over = false;
  std::string outcome;  // for people: "is over already: ...", "is ended"
};

// Sends TERM to the run's ddlrun, which passes it to the ranks and ends what is left after their time to
// save; waits for the end, at most 30 s. Error{request} where the run is on another host, damaged, not known,
// or still there.
Cancellation cancel_run(System& system, const std::string& word);

// The newest run that still runs on this host, but not the one of `word`; "" where none does.
std::string find_other_running(System& system, const std::string& word);

}  // namespace ddlrun::launch
