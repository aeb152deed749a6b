// SPDX-License-Identifier: MIT
// What a run of `ddl-bench allreduce` found, and how it is shown.
#pragma once

#include "ddl/data_type.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::ddl_bench {

// Seconds of a call on the slowest rank.
struct Times {
  double least = 0.0;
  double median = 0.0;
  std::size_t turns = 0;
};
// Nothing of none.
std::optional<Times> times_of(std::vector<double> seconds);

struct CaseResult {
  std::string how;  // the algorithm, where a backend has several
  Times times;
  std::size_t wrong = 0;
};

struct BackendResult {
  std::string backend;
  std::vector<CaseResult> cases;  // one at least
  std::optional<double> limit;    // seconds of a plain pass over the same bytes

  const CaseResult& best() const;  // by its fastest turn
  std::size_t wrong() const;       // of all variants
};

struct SizeResult {
  std::size_t bytes = 0;
  std::size_t count = 0;
  std::vector<BackendResult> backends;
};

// Payload between neighbouring hosts, bytes/s of one host.
struct LinkRate {
  double one_way = 0.0;
  double both_ways = 0.0;  // in each direction while the other is used too
};

struct BenchFacts {
  std::string version;
  int ranks = 1;
  int hosts = 1;
  int local_ranks = 1;
  std::string dims;
  ddl::DataType type = ddl::DataType::float32;
  double seconds = 0.0;  // for each size and backend
  std::string mpi;
  std::string gloo;  // "": not among the backends
  std::optional<LinkRate> link;
  std::vector<std::string> notes;
};

// "Open MPI 4.1.4", "MPICH 4.0.2" of what MPI_Get_library_version returns.
std::string short_mpi_version(std::string_view version);

double alg_bandwidth(std::size_t bytes, double seconds);             // GB/s
double bus_bandwidth(std::size_t bytes, double seconds, int ranks);  // GB/s
std::optional<double> times_mpi(const SizeResult& size, const BackendResult& backend);

// What is about to be measured, and for about how long.
std::string render_start(std::size_t sizes, std::size_t backends, double seconds);

// What is known of a size that is measured.
struct MeasuredSize {
  std::size_t bytes = 0;
  double seconds = 0.0;  // that it took
  double calls = 0.0;    // of one call of each case
};
double seconds_of_calls(const SizeResult& size);

// Seconds that each byte adds to one call of each case, at most: at the rate of the link and of a slow
// memory.
double find_seconds_per_byte(const BenchFacts& facts, const SizeResult& size);

// Seconds for the sizes behind `done`. A size takes `seconds_each`, however short its calls are; it takes
// longer where the least number of calls does. Calls are a latency and a bandwidth, known from two sizes.
// After one size its calls may be latency alone: a byte more adds `seconds_per_byte` at most.
double estimate_seconds(std::span<const std::size_t> sizes, double seconds_each,
                        std::span<const MeasuredSize> done, double seconds_per_byte);

// The table in parts, so that rows appear as they are measured. Lines that begin with # are no rows.
std::string render_table_head(const BenchFacts& facts);
std::string render_table_rows(const BenchFacts& facts, const SizeResult& size);
std::string render_table_foot(const BenchFacts& facts, const std::vector<SizeResult>& sizes);
// "ddl-bench.allreduce/1"
std::string render_results_json(const BenchFacts& facts, const std::vector<SizeResult>& sizes);

}  // namespace ddlrun::ddl_bench
