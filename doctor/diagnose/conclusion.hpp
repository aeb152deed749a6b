// SPDX-License-Identifier: MIT
// From what was kept of the logs to the diagnosis. The order of causes:
//   P  a known cause by its text
//   G  a known, less specific cause; an exception of Python that no other text explains
//   L  the most telling line by general rules: "most likely"
//   N  a known cause by the exit status alone
//   E  how a rank ended, without the reason
// Consequences (S) and harmless messages (W) are never the cause.
#pragma once

#include "doctor/diagnose/collective_calls.hpp"
#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/match_store.hpp"
#include "doctor/diagnose/native_stack.hpp"
#include "doctor/diagnose/python_traceback.hpp"
#include "doctor/diagnose/salient_lines.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

// The signature of a Python exception; its title is the exception.
constexpr std::string_view python_exception_id = "E24";

// A collective that did not end in time, and the signature where its ranks wait in different ones.
constexpr std::string_view collective_timeout_id = "D35";
constexpr std::string_view collective_mismatch_id = "D70";

struct LogFacts {
  const SignatureSet& signatures;
  const MatchStore& matches;
  const SalientLines& salient;
  const TracebackReader& tracebacks;
  const NativeStack& stack;
  const CollectiveCalls& collectives;
  const std::vector<std::string>& sources;
  const std::vector<LogLine>& last_lines;        // at most 3, without rulers
  const std::vector<LogLine>& lines_before_end;  // the last before a launcher reports an end
  const std::set<std::string>& hosts;            // named before lines; at most 2 are kept
  bool names_ranks = false;                      // some line has a rank in its prefix
  bool of_srun = false;                          // some line is srun's own
  bool of_mpi = false;                           // some line names MPI
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
};

Diagnosis conclude(const LogFacts& log, const RunStatus& end);

}  // namespace ddlrun::diagnose
