// SPDX-License-Identifier: MIT
// The plan as an Open MPI rankfile, in the layout of rank_gen.py (PowerAI DDL), to the byte.
#pragma once

#include "topology/plan.hpp"

#include <string>
#include <vector>

namespace ddlrun::rankfile {

using topology::Plan;

struct RankfileHeader {
  std::string version;  // of ddlrun, for the first line
  std::string stamp;    // "2026-11-21 03:19:14", or "" for reproducible bytes
};

// Error{request} for names that Open MPI `mpi_major` cuts, folds or dies on: '_', keywords, "1a.x.org",
// "007", a.x beside a.y.
void check_rankfile_names(const std::vector<std::string>& hosts, int mpi_major = 4);

// The names as the rankfile writes them: shortened at the first dot where a line would not fit Open MPI's
// buffer, else as given. Error{request} where no form fits, or from check_rankfile_names().
std::vector<std::string> rankfile_names(const Plan& plan, int mpi_major = 4);

// Header, then host by host in list order, a blank line after each host and a second one after each rack.
std::string render_rankfile(const Plan& plan, const RankfileHeader& header, int mpi_major = 4);

// Open MPI copies "host slot=slots" into 64 bytes.
constexpr std::size_t max_rankfile_entry = 63;

}  // namespace ddlrun::rankfile
