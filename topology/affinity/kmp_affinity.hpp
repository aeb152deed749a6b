// SPDX-License-Identifier: MIT
// The grammar of KMP_AFFINITY, as the LLVM and Intel OpenMP runtimes take it:
// [modifier,...]type[,permute][,offset], e.g. "granularity=fine,compact,1,0".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::affinity {

struct KmpAffinity {
  std::string type;  // "compact", "scatter", "balanced", "explicit", "none", "disabled", ...; "" = none given
  std::string granularity;  // "fine", "core", ...; "" = not given
  std::optional<unsigned> permute, offset;
  std::string problem;  // what the runtime would ignore, in words; "" = well formed
};

KmpAffinity parse_kmp_affinity(std::string_view text);

}  // namespace ddlrun::affinity
