// SPDX-License-Identifier: MIT
// Puts a rankfile right where that can be decided from the file itself.
#pragma once

#include "topology/rankfile/rankfile_check.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::rankfile {

struct FixedRankfile {
  std::string text;
  std::vector<RankfileFinding> remaining;  // the findings that are left for `text`
};

// Every corrected line put in, rank 0 moved to the front, repeated lines dropped, line ends made LF. Applying
// it to its own result changes nothing. If `remaining` has errors the text is not fit for use.
FixedRankfile fix_rankfile(std::string_view text, const CheckContext& context);

}  // namespace ddlrun::rankfile
