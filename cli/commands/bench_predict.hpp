// SPDX-License-Identifier: MIT
// `ddlrun bench predict`: the forecast of a training on more hosts.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_flags.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ddlrun::cli {

struct PredictFlags {
  std::string network, network_hosts;
  std::string from, timeline;
  std::string step_ms, parameters, images;
};

void add_predict_options(CLI::App& app, PredictFlags& flags);
// Whether any of them was given: they are for predict only.
bool has_predict_options(const PredictFlags& flags);

struct PredictCommand {
  PredictFlags flags;
  launch::LaunchFlags launch;
  std::vector<std::string> launch_words;  // the options of launch that were given
  std::string json, svg;
  int cores = 1;          // of this host
  std::string ddl_bench;  // its path, where --network-hosts is given
};

int run_bench_predict(System& system, const PredictCommand& command);

}  // namespace ddlrun::cli
