// SPDX-License-Identifier: MIT
// From what a host was told to what one of its ranks is started with.
#pragma once

#include "launch/start_document.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::cli {

struct RankStart {
  Command command;       // `ddlrun exec`, or the program where nothing is to be done for it
  EnvVars variables;     // added to the environment
  std::vector<int> pus;  // to run on; empty: anywhere
  std::string folder;    // "": ours
};

RankStart plan_rank_start(const launch::HostDocument& host, const launch::SheetRank& rank,
                          const std::string& ddlrun);

// In the child that becomes the rank: goes to its folder and its cores. What fails is said on `err`; a folder
// that is not there ends the rank, cores that the system does not give are left to --verify.
bool take_rank_place(const RankStart& start, const std::function<void(std::string_view)>& err);

}  // namespace ddlrun::cli
