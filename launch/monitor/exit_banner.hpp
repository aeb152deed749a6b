// SPDX-License-Identifier: MIT
// The messages in which Open MPI's mpirun reports that a rank failed, without a reason. Behind an error that
// names its reason, place and remedy they say nothing new.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

// Whether the line belongs to a message by which a launcher reports that a rank failed: it has no reason.
bool is_report_of_end(std::string_view line);

// Whether the line is of a message in which Open MPI's mpirun ends the job because of a rank.
bool announces_end(std::string_view line);

// Whether the line begins a message in which PRRTE refuses to map a job, which then never starts.
bool announces_refusal(std::string_view line);

// The status of "Exit code:    1", of the rank that was first.
std::optional<int> reported_status(std::string_view line);

class ExitBannerFilter {
 public:
  // Takes one line of stderr; returns what to print. A rule is kept until the next line.
  std::string take(std::string_view line);
  // At the end: the rule that was kept.
  std::string finish();

 private:
  std::string rule_;
  bool in_banner_ = false;
};

}  // namespace ddlrun::launch
