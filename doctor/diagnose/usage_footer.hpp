// SPDX-License-Identifier: MIT
// What a command that measures another one prints behind its output: `time`, the accounting of a batch
// system. It stands behind a failure too, so it shows neither results nor that the run goes on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

bool is_usage_footer(std::string_view line);

// Where such lines stand near the end of the logs, by their numbers over all sources. Each blank line above
// one is part of it.
class UsageFooters {
 public:
  // `text`: whole lines, of which the last has the number `last`.
  void take(std::string_view text, std::uint64_t last);
  std::uint64_t count_after(std::uint64_t line) const;

 private:
  std::vector<std::uint64_t> lines_;
};

}  // namespace ddlrun::diagnose
