// SPDX-License-Identifier: MIT
#include "topology/plan_options.hpp"

#include "base/text/error.hpp"
#include "base/text/parse_enum.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::topology {

PlanOptions parse_plan_options(const PlanTexts& texts) {
  PlanOptions options;
  if (!texts.order.empty()) {
    options.order = parse_enum<RankOrder>("--order", texts.order,
                                          {{"ddl", RankOrder::ddl}, {"packed", RankOrder::packed}});
  }
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
