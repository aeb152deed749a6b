// SPDX-License-Identifier: MIT
// Host names as Open MPI's rankfile reader takes them: what it cuts, folds, misreads or dies on.
#pragma once

#include "topology/rankfile/slot_list.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// By the name given: the own name of a host, where Open MPI 5 needs it in a rankfile. PRRTE 3.0.8 compares the rankfile
// with the names that its daemons report, and with no alias (rmaps_rank_file.c:307). `own_names`: of `hosts`, as they
// report them, "" where unknown. Empty if an own name is invalid or another host's too: then no name is changed.
std::map<std::string, std::string> own_rankfile_names(const std::vector<std::string>& hosts,
                                                      const std::vector<std::string>& own_names);
// `text` of render_rankfile() with these hosts renamed.
std::string rename_rankfile_hosts(std::string_view text, const std::map<std::string, std::string>& names);

}  // namespace ddlrun::rankfile
