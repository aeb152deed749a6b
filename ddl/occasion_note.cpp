// SPDX-License-Identifier: MIT
#include "ddl/occasion_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddl {

OccasionNote note_of(const Occasion& occasion) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 52) - 1;
  return {occasion.call.sequence, occasion.call.signature,
          std::min<std::uint64_t>(occasion.count, most) | std::uint64_t{occasion.detail & 15U} << 52 |
              static_cast<std::uint64_t>(occasion.type) << 56 |
              static_cast<std::uint64_t>(occasion.verb) << 60};
}

std::string render_note(const OccasionNote& note) {
  constexpr std::string_view verbs[] = {"the start",  "barrier",    "broadcast",    "reduce_scatter",
                                        "all_gather", "all_reduce", "reduce_update"};
  const auto verb = static_cast<std::size_t>(note.what >> 60) % std::size(verbs);
  std::string text(verbs[verb]);
  if (verb == static_cast<std::size_t>(Verb::start)) return text;
  text += fmt::format(" #{}", note.sequence);
  if (verb == static_cast<std::size_t>(Verb::barrier)) return text;
  return text + fmt::format(" of {} {}", note.what & ((std::uint64_t{1} << 52) - 1),
                            name_of(static_cast<DataType>(note.what >> 56 & 15U)));
}

}  // namespace ddl
