// SPDX-License-Identifier: MIT
// One plan in the formats of other launchers. The first line of each text states its use.
#pragma once

#include "topology/plan.hpp"
#include "topology/rankfile/rankfile.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ddlrun::rankfile {

using topology::PuIndex;

struct Format {
  std::string_view name;
  bool is_open_mpi;  // its host names must be such that Open MPI takes them
  std::string_view summary;
  // Error{request} if the launcher cannot express this plan (hydra and interleaved ranks, unlike hosts).
  std::string (*render)(const Plan& plan, const RankfileHeader& header);
};

std::span<const Format> formats();

// The format of that name; Error{usage} with "did you mean".
const Format& find_format(std::string_view name);

// Hexadecimal mask of OS processors as Slurm and Intel MPI read it: {0,1,2,3,64} -> "0x1000000000000000f".
std::string render_mask(const std::vector<PuIndex>& pus);

}  // namespace ddlrun::rankfile
