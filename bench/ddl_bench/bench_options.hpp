// SPDX-License-Identifier: MIT
// The command line of `ddl-bench allreduce` as a value.
#pragma once

#include "base/text/command_reference.hpp"
#include "ddl/data_type.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::ddl_bench {

struct BenchOptions {
  std::vector<std::size_t> sizes;     // bytes, as requested
  std::vector<std::string> backends;  // empty: all that are built in and make sense
  double seconds = 0.3;               // for each size and backend
  ddl::DataType type = ddl::DataType::float32;
  std::string json;       // file; "-": stdout instead of the table; "": none
  bool check = false;     // every turn, not only the first round
  bool one_copy = false;  // also the sum and its use once a host
  std::string gloo_interface;
  bool help = false;
  bool version = false;

  bool names(const std::string& backend) const;  // among `backends`
};

// In the order of the table.
const std::vector<std::string>& known_backends();

// "4:256M" (each four times the last), "64k,1M", or both mixed; k, M and G are powers of 1024. Throws
// Error(usage), also where a size is no whole number of `unit` bytes.
std::vector<std::size_t> parse_sizes(std::string_view text, std::size_t unit);
// "256M", "64k", "4": the shortest form that is exact.
std::string render_size(std::size_t bytes);

// `words` behind "allreduce". Throws Error(usage).
BenchOptions parse_bench_options(std::span<const std::string> words);
std::string render_bench_help();
CommandReference describe_bench();

}  // namespace ddlrun::ddl_bench
