// SPDX-License-Identifier: MIT
// Host names as Open MPI's rankfile reader takes them: what it cuts, folds, misreads or dies on.
#pragma once

#include "topology/rankfile/slot_list.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::rankfile {

struct NameProblem {
  std::string id;
  Severity severity = Severity::error;
  std::string what;
  std::string hint;
  std::string corrected;  // the name to write instead, or ""
};

// What is wrong with one name of a rankfile for Open MPI `mpi_major` (4 or 5), if anything.
std::optional<NameProblem> check_host_name(std::string_view name, int mpi_major = 4);

// The name Open MPI compares: without "user@", cut at the first dot unless it is an IPv4 address, "007" as
// "7".
std::string_view folded_name(std::string_view name);

// "+n3": the fourth host of the allocation.
bool is_relative_name(std::string_view name);

}  // namespace ddlrun::rankfile
