// SPDX-License-Identifier: MIT
// PowerAI DDL's option string, "-mode b:4x2x1 -dev_sync 1": in Caffe's -ddl, in DDL_OPTIONS, and for libddl,
// which takes the same words. Read and checked against the plan, never rewritten.
#pragma once

#include "topology/dims.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::frameworks {

struct DdlOptions {
  char letter = 0;                     // b n r p m c; 0: no -mode
  std::optional<topology::Dims> dims;  // of -mode
  std::string dims_text;               // as typed: "4x1x1"
  std::vector<std::string> others;     // every other option with its value, in order
  std::vector<std::string> unknown;    // names that PowerAI's DDL is not known to take
};

// Error{usage} at `place` for a letter, dims or numbers that DDL does not take.
DdlOptions parse_ddl_options(std::string_view text, const std::string& place);

// "-mode b:4x2x1 -dev_sync 1": the same options for other dims.
std::string render_ddl_options(const DdlOptions& options, const topology::Dims& dims);

// What the job is: its dims where they are known, its ranks and the ranks of a host where not.
struct DdlJob {
  std::optional<topology::Dims> dims;
  std::uint32_t ranks = 0;
  std::uint32_t ranks_of_host = 0;
};

// Error{request} where the mode is for another number of ranks or another shape, with the right string to
// type. `typed` shows how: `-ddl "{}"`, "-x DDL_OPTIONS=...". Returns what people should know.
std::vector<std::string> check_ddl_options(const DdlOptions& options, const DdlJob& job,
                                           const std::string& place);

}  // namespace ddlrun::frameworks
