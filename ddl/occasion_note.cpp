// SPDX-License-Identifier: MIT
#include "ddl/occasion_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddl {

std::string_view name_of(Verb verb) {
  constexpr std::string_view names[] = {"the start",  "barrier",    "broadcast",    "reduce_scatter",
                                        "all_gather", "all_reduce", "all_reduce_n", "all_reduce_update",
                                        "gather",     "agree",      "allocate"};
  return names[static_cast<std::size_t>(verb) % std::size(names)];
}

bool has_numbers(Verb verb) { return verb >= Verb::broadcast && verb <= Verb::all_reduce_update; }

OccasionNote note_of(const Occasion& occasion) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 52) - 1;
  return {occasion.call.sequence, occasion.call.signature,
          std::min<std::uint64_t>(occasion.count, most) | std::uint64_t{occasion.detail & 15U} << 52 |
              static_cast<std::uint64_t>(occasion.type) << 56 |
              static_cast<std::uint64_t>(occasion.call.program.value_or(occasion.verb)) << 60};
}

std::string render_note(const OccasionNote& note) {
  const auto verb = static_cast<Verb>(note.what >> 60);
  std::string text(name_of(verb));
  if (verb == Verb::start) return text;
  text += fmt::format(" #{}", note.sequence);
  if (!has_numbers(verb)) return text;
  return text + fmt::format(" of {} {}", note.what & ((std::uint64_t{1} << 52) - 1),
                            name_of(static_cast<DataType>(note.what >> 56 & 15U)));
}

}  // namespace ddl
