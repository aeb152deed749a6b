// SPDX-License-Identifier: MIT
// The files that keep each rank's output: their names, and their last lines.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/output_frame.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::launch {

// The directory of a run's rank files: "DIRECTORY/out".
std::string rank_file_directory(const std::string& directory);

// "DIRECTORY/out/rank-0007.out"
std::string rank_file(const std::string& directory, std::uint32_t rank, RankStream stream);

// The last 20 lines of a file; nothing where there is none.
std::vector<std::string> read_last_lines(System& system, const std::string& path);

// "  | line" for each, as messages quote the output of ranks.
std::string render_quoted(const std::vector<std::string>& lines);

// The last lines of what a rank said on stderr, from its file, for people; "" if it said nothing.
std::string render_last_lines(System& system, const std::string& directory, std::uint32_t rank);

}  // namespace ddlrun::launch
