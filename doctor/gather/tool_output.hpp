// SPDX-License-Identifier: MIT
// What the vendors' load tools print, as values: dcgmi diag, nccl-tests, perftest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

struct DcgmReport {
  std::uint64_t passed = 0;
  std::vector<std::string> failed;  // "PCIe: Fail - GPU: 0: why", at most 32
};
// The table of `dcgmi diag -r N`; nothing where there is none.
std::optional<DcgmReport> parse_dcgm(std::string_view text);

struct NcclReport {
  std::uint64_t bus_hundredths = 0;  // "# Avg bus bandwidth    : 123.45" -> 12345
  std::uint64_t wrong = 0;           // "# Out of bounds values : 3 FAILED"
};
std::optional<NcclReport> parse_nccl_tests(std::string_view text);

// The average of the last row of `ib_write_bw --report_gbits`, in Mb/s.
std::optional<std::uint64_t> parse_write_bandwidth(std::string_view text);

}  // namespace ddlrun::doctor
