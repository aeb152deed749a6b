// SPDX-License-Identifier: MIT
// How a sum over several hosts is cut: what a host adds up, and what goes on over the wires. Pure.
#pragma once

#include "ddl/core/kernels.hpp"

#include <cmath>
#include <optional>

namespace ddl {

// A host's part of a sum that goes on over wires: scaled at the end, once.
inline Reduction partial(const Reduction& whole) {
  return {whole.type, whole.operation == Operation::average ? Operation::sum : whole.operation, 1.0};
}

// An average in float16: the sum of numbers that all fit might not, before it is scaled on the last level. A
// power of two changes no digit.
struct SplitReduction {
  Reduction node;
  Reduction between;
};
inline SplitReduction split_scale(const Reduction& whole, double partial_ranks,
                                  const std::optional<DataType>& wire_dtype) {
  SplitReduction split{partial(whole), whole};
  const bool is_half =
      whole.type == DataType::float16 || (whole.type == DataType::float32 && wire_dtype == DataType::float16);
  if (whole.operation != Operation::average || !is_half) return split;
  const double power = std::exp2(-std::ceil(std::log2(partial_ranks)));
  split.node.scale = power;
  split.between.scale /= power;
  return split;
}

}  // namespace ddl
