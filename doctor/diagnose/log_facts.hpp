// SPDX-License-Identifier: MIT
// What was kept of the logs of one run.
#pragma once

#include "doctor/diagnose/collective_calls.hpp"
#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/episodes.hpp"
#include "doctor/diagnose/match_store.hpp"
#include "doctor/diagnose/native_stack.hpp"
#include "doctor/diagnose/output_gap.hpp"
#include "doctor/diagnose/python_traceback.hpp"
#include "doctor/diagnose/run_traits.hpp"
#include "doctor/diagnose/salient_lines.hpp"
#include "doctor/diagnose/usage_footer.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

struct LogFacts {
  const SignatureSet& signatures;
  const MatchStore& matches;
  const SalientLines& salient;
  const TracebackReader& tracebacks;
  const NativeStack& stack;
  const CollectiveCalls& collectives;
  const Episodes& episodes;
  const std::vector<std::string>& sources;
  const std::vector<std::uint64_t>& lines_of_source;
  const std::vector<LogLine>& last_lines;        // at most 3, without rulers
  const std::vector<LogLine>& lines_before_end;  // the last before a launcher reports an end
  const UsageFooters& footers;                   // behind the output of the run
  const std::set<std::string>& hosts;            // named before lines; at most 2 are kept
  bool names_ranks = false;                      // some line has a rank in its prefix
  bool is_tagged = false;                        // the launcher put the rank before each line
  bool of_srun = false;                          // some line is srun's own
  bool of_mpi = false;                           // some line names MPI
  const RunTraits& traits;
  StillEnd still_end;
  bool ends_in_nul = false;           // the last log ends in NUL bytes
  std::uint64_t last_stack_line = 0;  // of a stack below an error, over all sources
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
};

}  // namespace ddlrun::diagnose
