// SPDX-License-Identifier: MIT
#include "topology/plan_options.hpp"

#include "base/text/error.hpp"
#include "base/text/parse_enum.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::topology {

namespace {

// mpirun's --map-by chooses the order of the ranks too, which is an option of its own here.
void refuse_mpirun_unit(const std::string& unit) {
  std::string hint = join(own_words_of_unit(unit), " ");
  if (hint == "--order packed")
    hint += "   # ranks 0 and 1 on the first host, as with mpirun";
  else if (hint == "--order ddl")
    hint += "   # round robin over hosts";
  else if (unit.starts_with("ppr:"))
    hint = "DIMS, ranks per host x hosts: 2x3 h1,h2,h3 is 2 ranks on each of 3; --cores-per-rank N for PE=N";
  if (hint.empty()) return;
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is a unit of mpirun's --map-by, not of ddlrun's", printable(unit, 40)),
               "--map-by", hint});
}

}  // namespace

std::vector<std::string> own_words_of_unit(std::string_view unit) {
  if (unit == "slot" || unit == "core") return {"--order", "packed"};
  if (unit == "node") return {"--order", "ddl"};
  if (unit == "socket" || unit == "package" || unit == "numa") return {"--map-by", "packages"};
  return {};
}

PlanOptions parse_plan_options(const PlanTexts& texts) {
  PlanOptions options;
  if (!texts.order.empty()) {
    options.order = parse_enum<RankOrder>("--order", texts.order,
                                          {{"ddl", RankOrder::ddl}, {"packed", RankOrder::packed}});
  }
  refuse_mpirun_unit(texts.by);
  options.by =
      parse_enum<MapBy>("--map-by", texts.by,
                        {{"auto", MapBy::automatic}, {"gpus", MapBy::gpus}, {"packages", MapBy::packages}});
  options.oversubscribe = texts.oversubscribe;
  if (texts.cores_per_rank.empty()) return options;
  const auto cores = parse_unsigned(texts.cores_per_rank, 65536);
  if (!cores || *cores == 0) {
    throw Error(ErrorKind::usage, {fmt::format("'{}' is not a number of cores from 1 to 65536",
                                               printable(texts.cores_per_rank, 40)),
                                   "--cores-per-rank", "--cores-per-rank 4"});
  }
  options.cores_per_rank = static_cast<int>(*cores);
  return options;
}

}  // namespace ddlrun::topology
