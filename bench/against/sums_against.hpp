// SPDX-License-Identifier: MIT
// Sums by libddl beside those of several MPI libraries: a process has one MPI, so each has a run of its own,
// in which libddl takes turns with it. So each peer is compared with libddl's time in its own run. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_against {

// Seconds of the fastest turn, by backend: "ddl", "ddl-private", "mpi", "gloo".
using TimesOfSize = std::map<std::string, double>;

struct SumsOfRun {
  std::string mpi;  // "Open MPI 4.1.4"
  int ranks = 1;
  int hosts = 1;
  std::string type;
  std::map<std::size_t, TimesOfSize> sizes;  // by bytes
  std::size_t wrong = 0;                     // elements
  std::vector<std::string> documents;        // one a round
};

// The document "ddl-bench.allreduce/1". Throws Error(request); `where` is whose output it is.
SumsOfRun parse_sums(std::string_view text, const std::string& where);

// The same MPI again: each time is the fastest of both.
void keep_fastest(SumsOfRun& of, const SumsOfRun& again);

// A row for each size, and in words for which sizes libddl is slower than a peer. `notes`: what was not
// measured.
std::string render_against_table(const std::vector<SumsOfRun>& runs, const std::vector<std::string>& notes);
// "ddlrun.bench.against/1": the documents of all rounds.
std::string render_against_json(const std::vector<SumsOfRun>& runs, const std::vector<std::string>& notes);

}  // namespace ddlrun::bench_against
