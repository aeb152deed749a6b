// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/plan_gpus.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ddlrun::launch {

std::map<std::uint32_t, int> parse_plan_gpus(std::string_view text, const std::string& where) {
  using Json = nlohmann::json;
  std::map<std::uint32_t, int> gpus;
  try {
    const Json plan = Json::parse(text);
    if (!plan.contains("ranks")) return gpus;
    for (const Json& rank : plan.at("ranks")) {
      if (rank.contains("gpu")) gpus[rank.at("rank").get<std::uint32_t>()] = rank.at("gpu").get<int>();
    }
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::request, {fmt::format("the plan of this run is damaged: {}",
                                                 printable(std::string_view(error.what()), 160)),
                                     where, "ls -l " + quote_shell(where)});
  }
  return gpus;
}

}  // namespace ddlrun::launch
