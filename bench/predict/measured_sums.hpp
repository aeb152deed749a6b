// SPDX-License-Identifier: MIT
// Sums between hosts as `ddlrun bench allreduce --json` wrote them. Pure.
#pragma once

#include "bench/predict/sum_model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_predict {

struct MeasuredSums {
  SumShape shape;
  std::vector<MeasuredSum> sums;  // libddl's medians
};

// "ddl-bench.allreduce/1" with the backend ddl on two hosts or more. Throws Error(request).
MeasuredSums parse_measured_sums(std::string_view text, const std::string& where);

}  // namespace ddlrun::bench_predict
