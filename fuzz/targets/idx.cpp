// SPDX-License-Identifier: MIT
// IDX files, packed or not: the dimensions and the data agree, and a file is written as it was read.
#include "runtime/data/idx.hpp"

#include "fuzz/fuzz_target.hpp"
#include "runtime/core/gzip.hpp"

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::runtime;

DDLRUN_FUZZ_TARGET(idx) {
  std::span<const std::uint8_t> bytes = fuzz::as_bytes(input);
  std::optional<std::vector<std::uint8_t>> unpacked;
  if (is_gzip(bytes)) {
    unpacked = fuzz::accepted([&] { return gunzip(bytes, std::size_t{1} << 20U, "images.gz"); });
    if (!unpacked) return;
    bytes = *unpacked;
  }
  for (const std::size_t dimensions : {1U, 3U}) {
    const auto array = fuzz::accepted([&] { return parse_idx(bytes, dimensions, "images"); });
    if (!array) continue;
    const auto again = render_idx(array->dims, array->data);
    fuzz::require(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()),
                  "IDX is written as it was read");
  }
}
