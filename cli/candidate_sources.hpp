// SPDX-License-Identifier: MIT
// Values that the completion of a shell offers and that only this machine has: hosts, queues, runs, jobs.
#pragma once

#include "base/os/system.hpp"
#include "base/text/completion.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::cli {

// `source`: hosts (of /etc/hosts and the files of ssh), queues (sinfo and qstat -Q, which have a second),
// runs
// (`ddlrun history`), jobs (`ddlrun jobs`), checks, signatures, rules, profiles, templates, variables (names
// only). Never throws: what cannot be read offers nothing.
std::vector<Candidate> find_candidates(System& system, std::string_view source);

// The queues in what `qstat -Q` prints.
std::vector<std::string> parse_queue_table(std::string_view text);

}  // namespace ddlrun::cli
